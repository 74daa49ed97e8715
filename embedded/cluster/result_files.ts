import {
  PAGE_HEIGHT,
  PAGE_WIDTH,
  pageName,
  seededRandom,
  THUMBNAIL,
  thumbnailUrl,
} from "@/embedded/archive/catalogue.ts";
import { image3, PAGE, painting } from "@/embedded/archive/source_manifest.ts";
import { WORKER_DIGEST } from "./campaign_objects.ts";
import { timestamp } from "./kube_objects.ts";
import { pipelineDigest, QUALITY_REVISION } from "./sample_campaigns.ts";
import {
  altoOf,
  type End,
  instantOf,
  lineCountOf,
  manifestUrl,
  type RunState,
  scanUrl,
  type Stage,
  type VolumeRun,
  type WorkEvent,
} from "./volume_run.ts";

/** A file of a worker; the body is created when it is written. */
export interface ResultFile {
  readonly key: string;
  readonly contentType: string;
  readonly body: () => Uint8Array;
}

/** The state of a run; not the mark of its end. */
export function progressFile(run: VolumeRun, state: RunState, now: number): ResultFile {
  const failed = state.pages.filter((page) => page.error !== null);
  const last = failed.at(-1);
  const stopped = state.stage === "failed" ? 1 : 0;
  const done = state.stage === "done";
  return json(run, "progress.json", () => ({
    stage: state.stage,
    pages_total: state.stage === "setup" || run.volume.trouble?.kind === "manifest" ? 0 : run.volume.pages,
    pages_done: state.pages.length - failed.length,
    pages_failed: failed.length,
    last_page: state.pages.length > 0 ? pageName(state.pages[state.pages.length - 1].page) : null,
    last_error: last ? { page: pageName(last.page), error: last.error } : null,
    errors: failed.length + stopped,
    viewer_published: done || interimPages(state) > 0,
    started_at: timestamp(run.startedAt),
    updated_at: timestamp(now),
    ...(done && run.campaign.pipeline.scoresQuality && { quality: qualityBlock(run, state) }),
  }));
}

/** The result of a finished run, written last: its existence marks the volume as complete. */
export function manifestFile(run: VolumeRun, state: RunState, now: number): ResultFile {
  const { campaign, volume } = run;
  const pages = state.pages;
  const scored = campaign.pipeline.scoresQuality;
  const seconds = (now - run.startedAt) / 1000 * run.speed;
  const perPage = <T>(value: (page: number) => T) =>
    Object.fromEntries(pages.map(({ page }) => [pageName(page), value(page)]));
  return json(run, "manifest.json", () => ({
    volume: volume.id,
    pipeline_id: campaign.pipeline.id,
    pipeline_sha256: pipelineDigest(campaign.pipeline),
    pipeline_yaml: campaign.pipeline.document,
    image_digest: WORKER_DIGEST,
    htrflow_version: "embedded",
    pages: volume.pages,
    pages_ok: pages.filter((page) => page.error === null && !page.kept).length,
    pages_failed: pages.filter((page) => page.error !== null).length,
    results: Object.fromEntries(pages.map(({ page, seconds, error, kept }) => [pageName(page), {
      status: kept ? "skipped" : error === null ? "ok" : "failed",
      seconds,
      ...(error !== null && { error }),
      ...(scored && error === null && { quality: pageQuality(run, page) }),
    }])),
    page_sources: perPage((page) => scanUrl(run, page)),
    page_source_digests: {},
    canvas_ids: perPage((page) => canvasId(run, page)),
    source_manifest: manifestUrl(run),
    max_image_width: PAGE_WIDTH,
    bytes_fetched: pages.filter((page) => !page.kept).length * PAGE_WIDTH * PAGE_HEIGHT,
    wall_seconds: rounded(seconds, 1),
    gpu_stall_seconds: rounded(seconds * 0.07, 1),
    pages_per_second: rounded(pages.length / Math.max(1, seconds), 3),
    viewer_url: `${volumeUrl(run)}/iiif.json`,
    ...(scored && { quality: qualityBlock(run, state) }),
  }));
}

/** The volume as a IIIF manifest whose pages name their ALTO files; an interim one holds the pages so far. */
export function viewerFile(run: VolumeRun, state: RunState): ResultFile {
  const base = volumeUrl(run);
  const pages = goodPages(state);
  return json(run, "iiif.json", () => ({
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: `${base}/iiif.json`,
    type: "Manifest",
    label: { sv: [run.volume.title] },
    metadata: [{ label: { en: ["Pipeline"] }, value: { none: [run.campaign.pipeline.id] } }],
    items: pages.map((page) => {
      const canvas = canvasId(run, page);
      const scan = run.volume.scanOf(page);
      const quality = { label: { en: ["Predicted quality"] }, value: { none: [String(pageQuality(run, page))] } };
      return {
        id: canvas,
        type: "Canvas",
        label: { none: [pageName(page)] },
        ...PAGE,
        thumbnail: [image3(thumbnailUrl(run.archiveUrl, scan.volume, scan.page), THUMBNAIL)],
        ...(run.campaign.pipeline.scoresQuality && { metadata: [quality] }),
        seeAlso: [{
          id: `${base}/alto/${pageName(page)}.xml`,
          type: "Dataset",
          format: "application/xml+alto",
          profile: "http://www.loc.gov/standards/alto/ns-v4#",
          label: { en: ["ALTO"] },
        }],
        items: painting(canvas, [`${canvas}/page`, `${canvas}/image`], image3(scanUrl(run, page), PAGE)),
      };
    }),
  }));
}

/** The text of one page with its coordinates; a pipeline that scores pages states its score as the page's `PC`. */
export function altoFile(run: VolumeRun, page: number): ResultFile {
  const pc = run.campaign.pipeline.scoresQuality ? ` PC="${pageQuality(run, page)}"` : "";
  return {
    key: `${volumeKey(run)}/alto/${pageName(page)}.xml`,
    contentType: "application/xml",
    body: () =>
      encode(
        altoOf(run, page)
          .replace(/<fileName>.*?</, `<fileName>${pageName(page)}.png<`)
          .replace(
            /<Page ID="page_\d+" PHYSICAL_IMG_NR="\d+"/,
            `<Page ID="page_${page}" PHYSICAL_IMG_NR="${page}"${pc}`,
          ),
      ),
  };
}

/** The log of a run so far. */
export function logFile(run: VolumeRun, elapsed: number): ResultFile {
  return {
    key: logKey(run.namespace, run.campaign.pipeline.id, run.volume.id),
    contentType: "text/plain; charset=utf-8",
    body: () => encode(runLog(run, elapsed)),
  };
}

/** The keys of all files that workers write of a volume. */
export function volumeKeys(namespace: string, pipeline: string, volume: string, pages: readonly string[]): string[] {
  const base = `${namespace}/${pipeline}/${volume}`;
  const names = ["progress.json", "iiif.json", "manifest.json", ...pages.map((page) => `alto/${page}.xml`)];
  return [...names.map((name) => `${base}/${name}`), logKey(namespace, pipeline, volume)];
}

function logKey(namespace: string, pipeline: string, volume: string): string {
  return `${namespace}/status/logs/${pipeline}/${volume}.txt`;
}

/** The key of the manifest for a volume that is listed by its images. */
export function syntheticManifestKey(namespace: string, pipeline: string, volume: string): string {
  return `${namespace}/sources/${pipeline}/${volume}/manifest.json`;
}

/** Interim viewer manifests come every ten pages. */
export function interimPages(state: RunState): number {
  return Math.floor(state.pages.length / 10) * 10;
}

/** Pages that have text, ascending. */
export function goodPages(state: RunState): number[] {
  return state.pages.filter((page) => page.error === null).map(({ page }) => page).sort((a, b) => a - b);
}

function pageQuality(run: VolumeRun, page: number): number {
  return rounded(0.34 + 0.64 * Math.sqrt(seededRandom("quality", run.seed, run.volume.id, page)()), 4);
}

function qualityBlock(run: VolumeRun, state: RunState) {
  const pages = goodPages(state).map((page, canvas) => {
    return { page: pageName(page), quality: pageQuality(run, page), canvas };
  });
  if (pages.length === 0) return undefined;
  const ascending = [...pages].sort((a, b) => a.quality - b.quality);
  return {
    target: "text",
    model: "Riksarkivet/page-quality-1",
    revision: QUALITY_REVISION,
    mean: rounded(pages.reduce((sum, { quality }) => sum + quality, 0) / pages.length, 4),
    min: ascending[0].quality,
    scored: pages.length,
    lowest: ascending.slice(0, 5),
  };
}

function volumeKey(run: VolumeRun): string {
  return `${run.namespace}/${run.campaign.pipeline.id}/${run.volume.id}`;
}

function volumeUrl(run: VolumeRun): string {
  return `${run.resultsUrl}/${volumeKey(run).split("/").map(encodeURIComponent).join("/")}`;
}

function canvasId(run: VolumeRun, page: number): string {
  return `${volumeUrl(run)}/canvas/${pageName(page)}`;
}

function json(run: VolumeRun, name: string, content: () => unknown): ResultFile {
  return {
    key: `${volumeKey(run)}/${name}`,
    contentType: "application/json",
    body: () => encode(JSON.stringify(content())),
  };
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** The log of a worker after some seconds of work, in the format of Python's logging. */
function runLog(run: VolumeRun, elapsed: number): string {
  const lines: string[] = [];
  let instant = 0;
  for (const event of run.timeline) {
    if (event.at > elapsed) break;
    for (const [level, message] of messagesOf(run, event)) {
      instant = Math.max(instant + LINE_GAP_MS, instantOf(run, event.at));
      const [date, time] = new Date(instant).toISOString().slice(0, 23).replace(".", ",").split("T");
      lines.push(`${date} ${time} ${level} ${message}`);
    }
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Lines of one moment are this far apart. */
const LINE_GAP_MS = 3;

type Message = readonly ["INFO" | "WARNING" | "ERROR", string];

function messagesOf(run: VolumeRun, event: WorkEvent): Message[] {
  const { volume } = run;
  if (event.kind === "stage") return stageMessages(run, event.stage);
  if (event.kind === "end") return endMessages(run, event.end);
  const name = pageName(event.page);
  const fetched: Message = ["INFO", `HTTP Request: GET ${scanUrl(run, event.page)} "HTTP/1.1 200 OK"`];
  if (event.error !== null) return [fetched, ["ERROR", `[${volume.id}] ${name}: ${event.error}`]];
  const count = lineCountOf(run, event.page);
  const written: Message = ["INFO", `[${volume.id}] ${name}: ${count} lines in ${event.seconds.toFixed(1)} s`];
  const slow: Message[] = event.seconds > run.campaign.secondsPerPage * 1.3
    ? [["WARNING", `[${volume.id}] ${name}: slower than usual (${event.seconds.toFixed(1)} s)`]]
    : [];
  return [fetched, written, ...slow];
}

function stageMessages(run: VolumeRun, stage: Stage): Message[] {
  const { volume, campaign, attempt } = run;
  const source = manifestUrl(run);
  const tag = `[${volume.id}]`;
  const { model, revision } = campaign.pipeline;
  const requested: Message[] = source === null ? [] : [["INFO", `HTTP Request: GET ${source} "HTTP/1.1 200 OK"`]];
  const left = volume.pages - attempt.kept.size;
  const messages: Partial<Record<Stage, readonly string[]>> = {
    setup: [`${tag} pipeline ${campaign.pipeline.id}, attempt ${attempt.failures + attempt.evictions + 1}`],
    resume: [
      `${tag} ${volume.pages} pages in manifest`,
      `${tag} resume: ${attempt.kept.size} done, ${left} to process`,
    ],
    load: [
      "Initializing Segmentation: Riksarkivet/yolov9-lines-within-regions-1",
      `Initializing TextRecognition: ${model} revision ${revision ?? "main"}`,
    ],
    stream: [`${tag} running inference on ${left} pages`],
    verify: [`${tag} verify: reading the list of results`],
    publish: [`${tag} publish: writing iiif.json and manifest.json`],
  };
  const written = (messages[stage] ?? []).map((message): Message => ["INFO", message]);
  return stage === "resume" ? [...requested, ...written] : written;
}

function endMessages(run: VolumeRun, end: End): Message[] {
  const tag = `[${run.volume.id}]`;
  if (end.exitCode === 0) return [["INFO", `${tag} COMPLETE ${run.volume.pages} pages`]];
  // A killed container writes nothing: its log just ends.
  if (end.message === null) return [];
  if (end.permanent) return [["ERROR", `${tag} permanent failure in ${end.stage}: ${end.error}`]];
  const last = run.attempt.failures >= run.attempt.retries ? " on the last attempt" : "";
  return [["ERROR", `${tag} transient failure in ${end.stage}${last}: ${end.error}`]];
}
