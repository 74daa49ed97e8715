import { pageName } from "@/embedded/archive/source_volumes.ts";
import type { End, Stage, WorkEvent } from "./timeline.ts";
import { instantOf, lineCountOf, manifestUrl, scanUrl, type VolumeRun } from "./volume_run.ts";

/** What a worker has logged after some seconds of work: lines as Python's logging writes them. */
export function runLog(run: VolumeRun, elapsed: number): string {
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
  const fetched: Message = [
    "INFO",
    `HTTP Request: GET ${scanUrl(run, event.page)} "HTTP/1.1 200 OK"`,
  ];
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
  switch (stage) {
    case "setup":
      return [["INFO", `${tag} pipeline ${campaign.pipeline.id}, attempt ${attempt.failures + attempt.evictions + 1}`]];
    case "resume":
      return [
        ...(source === null ? [] : [["INFO", `HTTP Request: GET ${source} "HTTP/1.1 200 OK"`] as const]),
        ["INFO", `${tag} ${volume.pages} pages in manifest`],
        ["INFO", `${tag} resume: ${attempt.kept.size} done, ${volume.pages - attempt.kept.size} to process`],
      ];
    case "load":
      return [
        ["INFO", "Initializing Segmentation: Riksarkivet/yolov9-lines-within-regions-1"],
        ["INFO", `Initializing TextRecognition: ${model} revision ${revision ?? "main"}`],
      ];
    case "stream":
      return [["INFO", `${tag} running inference on ${volume.pages - attempt.kept.size} pages`]];
    case "verify":
      return [["INFO", `${tag} verify: reading the list of results`]];
    case "publish":
      return [["INFO", `${tag} publish: writing iiif.json and manifest.json`]];
    default:
      return [];
  }
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
