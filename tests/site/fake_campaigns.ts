import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";

/** The moment at which the sample campaigns look as described here. */
export const SAMPLE_NOW = Date.parse("2026-11-21T12:30:00Z");

/** A summary as the read API gives it, with only what matters to a test spelled out. */
export function summary(change: Partial<JobSummary> & { readonly name: string }): JobSummary {
  return {
    namespace: "batch-default",
    campaign: change.name,
    pipeline: "swedish-lion-v2",
    phase: "Running",
    counts: { total: 4, active: 1, done: 2, failed: 0 },
    suspended: false,
    createdAt: "2026-11-20T07:12:00Z",
    startedAt: "2026-11-20T07:13:00Z",
    finishedAt: null,
    resultsBase: "http://127.0.0.1/results/batch-default/swedish-lion-v2",
    warmup: { phase: "succeeded" },
    jobGone: false,
    qualityPrediction: true,
    waiting: null,
    ending: null,
    ...change,
  };
}

/** A volume as the read API gives it. */
export function volume(change: Partial<VolumeView> & { readonly index: number; readonly id: string }): VolumeView {
  const base = "http://127.0.0.1/results/batch-default/swedish-lion-v2";
  const key = encodeURIComponent(change.id);
  return {
    state: "done",
    manifestUrl: `${base}/${key}/manifest.json`,
    iiifUrl: `${base}/${key}/iiif.json`,
    altoPrefix: `${base}/${key}/alto/`,
    logUrl: `http://127.0.0.1/results/batch-default/status/logs/swedish-lion-v2/${key}.txt`,
    sourceUrl: `https://arkiv.example/iiif/${key}/manifest`,
    progress: {
      done: 210,
      total: 210,
      failed: 0,
      lastPage: "0210",
      stage: "done",
      updatedAt: "2026-11-21T12:00:00Z",
      ageSeconds: 1800,
      lastError: null,
      errors: 0,
      viewerPublished: true,
      quality: { mean: 0.91, min: 0.4, scored: 210, model: "m", revision: null, lowest: [] },
    },
    forbidden: false,
    stalledSince: null,
    ...change,
  };
}

/** A detail over some volumes; its sums cover all of them unless the test says otherwise. */
export function detail(job: JobSummary, volumes: readonly VolumeView[], change: Partial<JobDetail> = {}): JobDetail {
  const read = volumes.filter(({ progress }) => progress !== null);
  const sum = (of: (volume: VolumeView) => number) => read.reduce((total, volume) => total + of(volume), 0);
  const started = volumes.filter(({ state }) => state !== "pending").length;
  return {
    ...job,
    volumes,
    failures: volumes.filter(({ state }) => state === "failed").toReversed(),
    latest: null,
    pace: null,
    timeline: [],
    pipelineSteps: ["Segmentation", "TextRecognition", "QualityPrediction", "Export"],
    pipelineModels: [
      { model: "Riksarkivet/yolov9-lines-within-regions-1", revision: null },
      { model: "Riksarkivet/trocr-base-handwritten-hist-swe-2", revision: "4f1c2ab9d07e5c3816f2a7740be95d1c6e3f8a20" },
    ],
    pipelineYaml:
      "steps:\n  - step: Segmentation\n    settings:\n      model_settings:\n        model: riksarkivet/åäö\n",
    pagesDone: sum(({ progress }) => progress?.done ?? 0),
    pagesTotal: sum(({ progress }) => progress?.total ?? 0),
    pagesFailed: sum(({ progress }) => progress?.failed ?? 0),
    errors: sum(({ progress }) => progress?.errors ?? 0),
    lastError: null,
    pagesCoverage: { counted: started, of: started },
    quality: null,
    ...change,
  };
}

/** Seven campaigns in every state a card can be in. */
export function sampleSummaries(): JobSummary[] {
  return [
    summary({
      name: "svea-hovratt-1870",
      counts: { total: 1200, active: 8, done: 412, failed: 0 },
    }),
    summary({
      name: "kommerskollegium-kartor",
      phase: "Queued",
      counts: { total: 40, active: 0, done: 0, failed: 0 },
      suspended: true,
      startedAt: null,
      createdAt: "2026-11-21T08:40:00Z",
      warmup: {
        phase: "failed",
        reason: { stage: "warmup", permanent: false, error: "no space left on device: /data/models/åäö" },
      },
    }),
    summary({
      name: "göteborgs-domkapitel-1790",
      phase: "PartiallyFailed",
      counts: { total: 60, active: 0, done: 54, failed: 6 },
      createdAt: "2026-11-18T15:05:00Z",
      startedAt: "2026-11-18T15:06:00Z",
      finishedAt: "2026-11-19T02:31:00Z",
    }),
    summary({
      name: "bergskollegium-1720",
      phase: "Succeeded",
      counts: { total: 12, active: 0, done: 12, failed: 0 },
      createdAt: "2026-11-12T09:00:00Z",
      startedAt: "2026-11-12T09:02:00Z",
      finishedAt: "2026-11-12T21:12:00Z",
    }),
    summary({
      name: "rådhusrätten-part2",
      pipeline: "finnish-bear",
      phase: "Unknown",
      jobGone: true,
      qualityPrediction: false,
      counts: { total: 90, active: 0, done: 70, failed: 0 },
      createdAt: "2025-11-02T10:20:00Z",
      startedAt: "2025-11-02T10:21:00Z",
    }),
    summary({
      name: "landsarkivet-lund",
      phase: "Queued",
      suspended: true,
      startedAt: null,
      counts: { total: 300, active: 0, done: 0, failed: 0 },
      createdAt: "2026-11-21T11:01:00Z",
      waiting: {
        code: "queue",
        reason: "Pending",
        message: "2 campaigns are ahead",
        since: "2026-11-21T11:01:00Z",
      },
    }),
    summary({
      name: "ett-mycket-långt-namn-på-en-kampanj-som-fyller-hela-raden-i-listan",
      phase: "Paused",
      suspended: true,
      counts: { total: 1, active: 0, done: 0, failed: 0 },
      createdAt: "2026-11-20T11:01:00Z",
    }),
  ];
}

/** The volumes of one of the samples, by their number. */
export function sampleVolumes(job: JobSummary, offset: number, limit: number): VolumeView[] {
  const { total, done, active, failed } = job.counts;
  const rows = Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, place) => offset + place);
  return rows.map((index) => {
    const id = `SE-${job.name.slice(0, 5).toUpperCase()}-A1-${String(index).padStart(4, "0")}`;
    const finished = volume({ index, id });
    if (index < active) return activeVolume(index, id);
    if (index < active + failed) {
      return volume({
        index,
        id,
        state: "failed",
        reason: index % 2 === 0
          ? {
            stage: "verify",
            permanent: false,
            error: "verify failed: 3 missing, 0 failed missing=['0012', '0013', '0041']",
          }
          : { stage: null, permanent: null, error: "OOMKilled (exit code 137)" },
        progress: finished.progress && { ...finished.progress, done: 188, total: 191, failed: 3, errors: 4 },
      });
    }
    if (index < active + failed + done) return finished;
    return volume({ index, id, state: "pending", progress: null });
  });
}

function activeVolume(index: number, id: string): VolumeView {
  const finished = volume({ index, id });
  return volume({
    index,
    id,
    state: "active",
    sourceUrl: index % 2 === 0 ? finished.sourceUrl : null,
    stalledSince: index === 1 ? "2026-11-21T11:48:00Z" : null,
    progress: finished.progress && {
      ...finished.progress,
      done: 20 + 12 * index,
      total: 201,
      stage: "stream",
      updatedAt: new Date(SAMPLE_NOW - (index === 1 ? 2520 : 8) * 1000).toISOString(),
      ageSeconds: index === 1 ? 2520 : 8,
      quality: null,
    },
  });
}

/** How a running sample went, and goes on. */
const SAMPLE_COURSE = {
  pace: { pagesPerMinute: 48.2, endsAt: "2026-11-22T08:40:00Z", window: 600 },
  timeline: Array.from({ length: 30 }, (_, hour) => ({
    at: new Date(Date.parse("2026-11-20T07:13:00Z") + hour * 3_600_000).toISOString(),
    volumesDone: 14 * hour,
    volumesFailed: 0,
    pagesDone: 2900 * hour,
  })),
} satisfies Partial<JobDetail>;

/** The detail of one of the samples. */
export function sampleDetail(job: JobSummary, offset: number, limit: number): JobDetail {
  const all = sampleVolumes(job, 0, job.counts.total);
  const isRunning = job.phase === "Running";
  return detail(job, all, {
    volumes: all.slice(offset, offset + limit),
    failures: all.filter(({ state }) => state === "failed").toReversed(),
    ...(isRunning ? { pagesCoverage: { counted: 380, of: 420 }, errors: 12, ...SAMPLE_COURSE } : {}),
    quality: !job.qualityPrediction ? null : {
      mean: 0.87,
      min: 0.31,
      scored: 1000,
      volumes: 40,
      lowest: [0.31, 0.38, 0.4].map((quality, place) => ({
        volume: all[0]?.id ?? "",
        page: String(place),
        quality,
        canvas: place,
        iiifUrl: "http://127.0.0.1/results/x",
      })),
    },
  });
}
