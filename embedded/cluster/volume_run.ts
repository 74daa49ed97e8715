import {
  drawnAlto,
  drawnPage,
  pageImageUrl,
  pageName,
  seededRandom,
  sourceManifestUrl,
} from "@/embedded/archive/catalogue.ts";
import { GATE_SECONDS, PERMANENT_EXIT } from "./campaign_objects.ts";
import type { Campaign, CampaignVolume, SamplePipeline, Trouble } from "./sample_campaigns.ts";

export type Stage = "setup" | "resume" | "load" | "stream" | "verify" | "publish" | "done" | "failed";

/** How a container ends. */
export interface End {
  readonly exitCode: number;
  /** The container's reason, such as `Completed` or `OOMKilled`. */
  readonly reason: string;
  /** The termination message; null where the container was killed before it could write one. */
  readonly message: string | null;
  /** The stage it ended in, for the run log. */
  readonly stage: string;
  readonly error: string | null;
  readonly permanent: boolean;
  /** The pod's own reason, where the kubelet ended it. */
  readonly podReason?: string;
  /** The end was the node's doing, which costs no retry. */
  readonly disrupted?: boolean;
}

/** The events of a container, ascending by seconds of work since it started. */
export type WorkEvent =
  & { readonly at: number }
  & (
    | { readonly kind: "stage"; readonly stage: Stage }
    | { readonly kind: "page"; readonly page: number; readonly seconds: number; readonly error: string | null }
    | { readonly kind: "end"; readonly end: End }
  );

/** The input of an attempt at a volume. */
interface Attempt {
  /** Failures and evictions of the index before this attempt. */
  readonly failures: number;
  readonly evictions: number;
  /** Retries the Job allows per index. */
  readonly retries: number;
  /** Pages that earlier attempts left in the bucket: they are not worked on again. */
  readonly kept: ReadonlySet<number>;
}

/** The work of one attempt at a volume. A stuck attempt has no end event: the pod's deadline ends it. */
export function volumeTimeline(
  { seed, campaign, volume, attempt }: Pick<VolumeRun, "seed" | "campaign" | "volume" | "attempt">,
): readonly WorkEvent[] {
  const events: WorkEvent[] = [];
  const { trouble } = volume;
  let at = 0;
  const enter = (stage: Stage, seconds: number) => {
    events.push({ at, kind: "stage", stage });
    at += seconds;
  };
  const stop = (end: End): readonly WorkEvent[] => {
    if (end.message !== null) enter("failed", 0);
    return [...events, { at, kind: "end", end }];
  };
  if (trouble?.kind === "config") return stop(failure("config", true, trouble.error));
  enter("setup", 2);
  if (trouble?.kind === "manifest") return stop(failure("setup", true, trouble.error));
  enter("resume", 1);
  enter("load", 6);
  enter("stream", 0);
  for (let page = 1; page <= volume.pages; page++) {
    if (attempt.kept.has(page)) continue;
    const random = seededRandom("work", seed, volume.id, page);
    if (trouble && "page" in trouble && trouble.page === page) {
      if (trouble.kind === "stuck") return events;
      const end = interruption(trouble, attempt, page);
      if (end) {
        at += 2;
        return stop(end);
      }
    }
    const seconds = Math.round(campaign.secondsPerPage * (0.6 + random() * 0.8) * 10) / 10;
    at += seconds;
    events.push({ at, kind: "page", page, seconds, error: pageError(trouble, page, random, campaign.lostPages) });
  }
  enter("verify", 1);
  if (trouble?.kind === "verify") return stop(failure("verify", false, verifyError(trouble.pages)));
  enter("publish", 2);
  enter("done", 0);
  return stop(SUCCESS);
}

/** The end of a warm-up. */
export function warmupEnd({ warmupError }: Pick<SamplePipeline, "warmupError">): End {
  return warmupError === null ? SUCCESS : failure("warmup", true, warmupError);
}

/** The end of a worker that receives SIGTERM and reports it. */
export function drainEnd(stage: string): End {
  return { ...failure(stage, false, "SIGTERM"), exitCode: 143 };
}

/** The end of a pod at its deadline. */
export function deadlineEnd(stage: string): End {
  return { ...drainEnd(stage), podReason: "DeadlineExceeded" };
}

/** The end of a pod whose warm-up never completed. Plain text: the gate is a shell loop, not the worker. */
export function gateEnd(pipeline: string): End {
  const message = `no warm-up marker at /data/warmup/${pipeline}.done after ${GATE_SECONDS}s`;
  return { exitCode: PERMANENT_EXIT, reason: "Error", message, stage: "warmup", error: message, permanent: true };
}

const SUCCESS: End = { exitCode: 0, reason: "Completed", message: null, stage: "done", error: null, permanent: false };

function failure(stage: string, permanent: boolean, error: string): End {
  const message = JSON.stringify({ stage, permanent, error });
  return { exitCode: permanent ? PERMANENT_EXIT : 1, reason: "Error", message, stage, error, permanent };
}

function interruption(trouble: Trouble, attempt: Attempt, page: number): End | null {
  if (trouble.kind === "memory") return killed("OOMKilled");
  if (trouble.kind === "evicted" && attempt.evictions === 0) {
    return { ...killed("Error"), podReason: "Evicted", disrupted: true };
  }
  if (trouble.kind !== "transient" || attempt.failures >= trouble.attempts) return null;
  return failure("stream", false, `page ${pageName(page)}: the store answered 503`);
}

function killed(reason: string): End {
  return { exitCode: 137, reason, message: null, stage: "stream", error: null, permanent: false };
}

/** A few pages fail without failing their volume. */
function pageError(trouble: Trouble | null, page: number, random: () => number, lostPages: number): string | null {
  if (trouble?.kind === "verify" && trouble.pages.includes(page)) return "no text lines found in 2 regions";
  return random() < lostPages ? "image could not be decoded: truncated file" : null;
}

function verifyError(pages: readonly number[]): string {
  const names = pages.map(pageName);
  const errors = names.map((name) => `${name}: no text lines found in 2 regions`).join("; ");
  const list = names.map((name) => `'${name}'`).join(", ");
  return `verify failed: 0 missing, ${names.length} failed errors: ${errors} missing=[] failed=[${list}]`;
}

/** One attempt of a worker at one volume: the input of its files. */
export interface VolumeRun {
  readonly seed: number;
  readonly namespace: string;
  readonly campaign: Campaign;
  readonly volume: CampaignVolume;
  readonly attempt: Attempt;
  readonly timeline: readonly WorkEvent[];
  /** When the worker started, in milliseconds, and how many seconds of work it does in one. */
  readonly startedAt: number;
  readonly speed: number;
  readonly archiveUrl: string;
  readonly resultsUrl: string;
}

/** A page that the worker has finished with. */
interface FinishedPage {
  readonly page: number;
  readonly seconds: number;
  readonly error: string | null;
  /** Left in the bucket by an earlier attempt. */
  readonly kept: boolean;
}

/** The state of a worker. */
export interface RunState {
  readonly stage: Stage;
  readonly pages: readonly FinishedPage[];
  /** How many events of the timeline have happened. */
  readonly events: number;
  readonly end: End | null;
}

/** The state of a run after some seconds of work. */
export function runState(run: VolumeRun, elapsed: number): RunState {
  let stage: Stage = "setup";
  let end: End | null = null;
  let events = 0;
  const pages: FinishedPage[] = [];
  for (const event of run.timeline) {
    if (event.at > elapsed) break;
    events++;
    if (event.kind === "stage") {
      stage = event.stage;
      if (stage !== "resume") continue;
      for (const page of run.attempt.kept) pages.push({ page, seconds: 0, error: null, kept: true });
    } else if (event.kind === "page") {
      pages.push({ page: event.page, seconds: event.seconds, error: event.error, kept: false });
    } else {
      end = event.end;
    }
  }
  return { stage, pages, events, end };
}

/** The instant of a moment of work, in milliseconds. */
export function instantOf(run: VolumeRun, at: number): number {
  return run.startedAt + at * 1000 / run.speed;
}

/** The image that the worker reads as a page of the volume. */
export function scanUrl({ archiveUrl, volume }: VolumeRun, page: number): string {
  const scan = volume.scanOf(page);
  return pageImageUrl(archiveUrl, scan.volume, scan.page);
}

/** The manifest from which the worker knows the pages; null for a volume that is listed by its images. */
export function manifestUrl({ archiveUrl, volume }: VolumeRun): string | null {
  return volume.byImages ? null : sourceManifestUrl(archiveUrl, volume.scanOf(1).volume);
}

/** The ALTO file of the drawn page that a page of the volume shows. */
export function altoOf({ volume }: VolumeRun, page: number): string {
  const scan = volume.scanOf(page);
  return drawnAlto(drawnPage(scan.volume, scan.page));
}

/** The number of lines on a page. */
export function lineCountOf(run: VolumeRun, page: number): number {
  return altoOf(run, page).split("<TextLine ").length - 1;
}
