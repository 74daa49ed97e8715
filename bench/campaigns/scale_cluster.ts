import type { Job } from "@/embedded/cluster/kube_objects.ts";
import { ClusterStore, type StoreSnapshot } from "@/embedded/cluster/store.ts";
import { readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  CONVENTIONS,
  labelNames,
  POD_INDEX_LABEL,
  POD_JOB_LABEL,
  STATUS_SUFFIX,
} from "@/lib/campaigns/projection/conventions.ts";
import { summaryOf } from "@/lib/campaigns/records/record_plan.ts";

/** A large cluster, whose objects are as big as those of a real API server: managed fields and pod specs included. */
interface ScaleCluster {
  readonly store: ClusterStore;
  /** Moves a campaign's Job on. */
  move(index: number, progress: number): void;
}

export const NAMESPACE = "batch-default";
/** The results URL that the records name. */
export const RESULTS_URL = "https://campaigns.example.org/results";
export const VOLUMES = 8_000;
const PIPELINES = 12;
const CONFIG_MAP = { apiVersion: "v1", kind: "ConfigMap" };

const conventions = CONVENTIONS.stackroom;
const names = labelNames(conventions);
const managed = { [names.managedBy]: conventions.managedBy };

/** Creates `live` campaigns of {@link VOLUMES} volumes, two pods each, and `reaped` ones whose Job was deleted. */
export function scaleCluster(live: number, reaped: number): ScaleCluster {
  const campaigns = numbers(live + reaped);
  const store = new ClusterStore(Date.now, Math.random);
  const objects: unknown = {
    jobs: [...numbers(live).map((index) => job(index, index)), ...numbers(PIPELINES).map(warmup)],
    pods: [...numbers(live * 2).map((index) => pod(index >> 1, index & 1)), failedWarmupPod()],
    configmaps: [
      ...campaigns.map(record),
      ...campaigns.map((index) => status(index, index < live ? recorded(index) : ended(index))),
      ...numbers(PIPELINES).map(pipeline),
    ],
    namespaces: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }],
  };
  store.restore({ version: 1, uids: 0, objects: objects as StoreSnapshot["objects"] });
  return { store, move: (index, progress) => store.put("jobs", job(index, index + progress) as unknown as Job) };
}

/** The name of a campaign's Job. */
export function campaignName(index: number): string {
  return `arkiv-${String(index).padStart(5, "0")}`;
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function pipelineId(index: number): string {
  return `swedish-lion-v${index % PIPELINES}`;
}

function metadata(name: string, labels: object, index: number) {
  return {
    name,
    namespace: NAMESPACE,
    uid: `00000000-0000-4000-8000-${name.padStart(12, "0")}`,
    resourceVersion: "1",
    creationTimestamp: new Date(Date.UTC(2026, 0, 1) + index * 600_000).toISOString().replace(".000", ""),
    labels,
    managedFields: numbers(4).map((field) => ({
      manager: `manager-${field}`,
      operation: "Apply",
      apiVersion: "v1",
      time: "2026-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1: Object.fromEntries(numbers(20).map((key) => [`f:field-${field}-${key}`, { ".": {}, "f:value": {} }])),
    })),
  };
}

function campaignLabels(index: number) {
  return { ...managed, [names.campaign]: `arkiv-${index}`, [names.pipeline]: pipelineId(index) };
}

function podSpec(index: number) {
  const env = numbers(24).map((key) => ({ name: `SETTING_${key}`, value: `value of setting ${key}` }));
  const container = { name: "wrapper", image: `registry.example.org/worker@sha256:${"a".repeat(64)}`, env };
  return {
    restartPolicy: "Never",
    containers: [container],
    initContainers: [{ ...container, name: "warmup-wait" }],
    volumes: [
      { name: "campaign", configMap: { name: `campaign-${campaignName(index)}` } },
      { name: "pipeline", configMap: { name: conventions.pipelinePrefix + pipelineId(index) } },
    ],
  };
}

/** Between a third and two thirds done, in ranges with gaps, some failed. */
function job(index: number, progress: number) {
  const done = 2_700 + (progress * 37) % 2_700;
  const ranges = numbers(40).map((part) => {
    const start = Math.floor(done / 40) * part;
    return `${start}-${start + Math.floor(done / 40) - 2}`;
  });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata(campaignName(index), { app: conventions.campaignApp, ...campaignLabels(index) }, index),
    spec: {
      completions: VOLUMES,
      completionMode: "Indexed",
      parallelism: 2,
      template: { metadata: { labels: campaignLabels(index) }, spec: podSpec(index) },
    },
    status: {
      active: 2,
      startTime: "2026-01-01T08:00:00Z",
      completedIndexes: ranges.join(","),
      failedIndexes: "7000-7009",
      conditions: [],
    },
  };
}

/** One of them has failed, and says so with letters that take two bytes. */
function warmup(index: number) {
  const labels = { ...managed, app: conventions.warmupApp, [names.pipeline]: pipelineId(index) };
  const ended = {
    type: index === 0 ? "Failed" : "Complete",
    status: "True",
    lastTransitionTime: "2026-01-01T07:00:00Z",
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: metadata(`warmup-${pipelineId(index)}`, labels, index),
    spec: { completions: 1, template: { spec: podSpec(0) } },
    status: { conditions: [ended] },
  };
}

function pod(campaign: number, which: number) {
  const index = 6_000 + which;
  const labels = { [POD_JOB_LABEL]: campaignName(campaign), [POD_INDEX_LABEL]: String(index) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata(`${campaignName(campaign)}-${index}-abcde`, labels, campaign),
    spec: podSpec(campaign),
    status: { phase: "Running", containerStatuses: [{ name: "wrapper", state: { running: {} } }] },
  };
}

function failedWarmupPod() {
  const message = JSON.stringify({
    stage: "warmup",
    permanent: true,
    error: "Modellen går inte att läsa: åtkomst nekad",
  });
  const name = `warmup-${pipelineId(0)}`;
  const terminated = { exitCode: 13, message };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: metadata(`${name}-abcde`, { [POD_JOB_LABEL]: name }, 0),
    spec: podSpec(0),
    status: { phase: "Failed", containerStatuses: [{ name: "warmup", state: { terminated } }] },
  };
}

function record(index: number) {
  return {
    ...CONFIG_MAP,
    metadata: metadata(`campaign-${campaignName(index)}`, campaignLabels(index), index),
    // Half a megabyte, so it is computed when it is read.
    get data() {
      return volumes(index);
    },
  };
}

function status(index: number, data: object) {
  const labels = { ...campaignLabels(index), [names.kind]: "status" };
  return { ...CONFIG_MAP, metadata: metadata(`campaign-${campaignName(index)}${STATUS_SUFFIX}`, labels, index), data };
}

/** The status record of a live campaign. */
function recorded(index: number) {
  const live = readJob(job(index, index), conventions);
  if (!live) throw new Error(`no Job ${index}`);
  return summaryOf(live, RESULTS_URL);
}

function ended(index: number) {
  const failures = numbers(3).map((failure) => ({ id: volumeId(index, failure), reason: "sidan är sönderriven" }));
  return {
    phase: "PartiallyFailed",
    volumesTotal: String(VOLUMES),
    volumesDone: String(VOLUMES - 3),
    volumesFailed: "3",
    startedAt: "2026-01-01T08:00:00Z",
    finishedAt: new Date(Date.UTC(2026, 2, 1) + index * 60_000).toISOString(),
    failedVolumes: JSON.stringify(failures),
  };
}

function pipeline(index: number) {
  const step =
    `  - step: Segmentation\n    settings: {model_settings: {model: "archive/lion-${index}", revision: "v1"}}\n`;
  const id = pipelineId(index);
  return {
    ...CONFIG_MAP,
    metadata: metadata(conventions.pipelinePrefix + id, { ...managed, [names.pipeline]: id }, index),
    data: { "pipeline.yaml": `steps:\n${step.repeat(4)}  - step: QualityPrediction\n` },
  };
}

function volumeId(campaign: number, index: number): string {
  return `SE-RA-${campaign}-${String(index).padStart(5, "0")}`;
}

function volumes(campaign: number) {
  const lines = numbers(VOLUMES).map((index) => {
    const id = volumeId(campaign, index);
    return `${id}\thttps://arkiv.example.org/iiif/${id}/manifest`;
  });
  return { "volumes.txt": lines.join("\n") + "\n" };
}
