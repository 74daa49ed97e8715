import type { JobSummary, Reason } from "@/lib/campaigns/projection/types.ts";
import { isHeldByWarmup } from "./campaign_state.ts";

/** Sentences of problems that a card shows before the rest is folded away (spec, Limits). */
export const MAX_PROBLEM_SENTENCES = 3;
/** Characters of a foreign error text within a sentence. */
const MAX_QUOTED_ERROR = 300;

/** What a worker does in a stage, for the line below a volume; "" for a stage that needs no words. */
export function stageWords(stage: string | null): string {
  return STAGE_WORDS.get(stage ?? "") ?? "";
}

/** A failure in our words. */
export interface FailureWords {
  /** What happened, and whether it is tried again. */
  readonly text: string;
  /** What the cluster or the worker reported, where the text does not contain it; null where it does. */
  readonly raw: string | null;
}

/** A volume's failure in plain sentences. `isFinal`: the volume is failed, not between two attempts. */
export function failureWords(reason: Reason, isFinal: boolean): FailureWords {
  const { text, isQuoted } = whatHappened(reason);
  const raw = reason.error.trim();
  return { text: `${text} ${whatFollows(reason, isFinal)}`, raw: isQuoted || raw === "" ? null : raw };
}

/** A failed volume of which nothing more is known. */
export const UNEXPLAINED_FAILURE: FailureWords = {
  text: `The volume failed, and nothing is left that says why. ${notTriedAgain()}`,
  raw: null,
};

/**
 * What is wrong with a campaign's warm-up, and what waits for it: this campaign's volumes, or only the next campaign where
 * this one has begun or is over; null where nothing is wrong.
 */
export function warmupWords(job: JobSummary): FailureWords | null {
  const { warmup, pipeline, phase } = job;
  const isHeld = isHeldByWarmup(job);
  if (warmup.phase === "missing" && phase !== "Succeeded") {
    const waits = isHeld
      ? "no volume starts before one succeeds. Start one."
      : "the next campaign of this pipeline waits for one.";
    return { text: `There is no warm-up of the pipeline ${pipeline}, and ${waits}`, raw: null };
  }
  if (warmup.phase !== "failed") return null;
  const { text, raw } = warmup.reason ? warmupCause(warmup.reason) : { text: "The warm-up failed.", raw: null };
  const waits = isHeld ? "No volume starts" : `The next campaign of the pipeline ${pipeline} does not start`;
  return { text: `${text} ${waits} before it succeeds: mend the cause, then start the warm-up again.`, raw };
}

/** In place of a volume's progress when the results store refuses the reader. */
export function forbiddenSentence(): string {
  return "Your account may not read this volume.";
}

const STAGE_WORDS: ReadonlyMap<string, string> = new Map([
  ["setup", "reading the manifest"],
  ["resume", "checking earlier results"],
  ["load", "loading the model"],
  ["stream", "processing pages"],
  ["verify", "checking results"],
  ["publish", "publishing results"],
]);

/**
 * The same for every volume that stays failed: a record, which is left when the Job is gone, knows no more. The campaign's
 * own sentence says once for all of them what to do.
 */
function notTriedAgain(): string {
  return "Not tried again.";
}

const WORST_NAMES = 3;

interface Happening {
  readonly text: string;
  /** The text contains what was reported. */
  readonly isQuoted: boolean;
}

function whatHappened({ stage, permanent, error }: Reason): Happening {
  const known = clusterSentence(error, "the work on this volume");
  if (known !== null) return { text: known, isQuoted: false };
  if (stage === "verify" || error.startsWith("verify failed:")) return verifyHappening(error);
  if (stage === null && permanent === null && /^\s*[{[]/.test(error)) {
    return { text: "The volume stopped with a message that cannot be read.", isQuoted: false };
  }
  if (error.trim() === "") return { text: "The volume stopped without saying why.", isQuoted: false };
  const what = STAGE_FAILURES.get(`${stage}${permanent ? "!" : ""}`) ?? stageFailure(stage);
  return {
    text: `${what}: ${quoted(what === MANIFEST_UNREAD ? withoutManifestUnread(error) : error)}`,
    isQuoted: true,
  };
}

function warmupCause({ error }: Reason): FailureWords {
  if (/no space left on device/i.test(error)) {
    return { text: "The warm-up failed: the disk for models is full.", raw: error };
  }
  const known = clusterSentence(error, "the warm-up");
  return known === null
    ? { text: `The warm-up failed: ${quoted(error)}`, raw: null }
    : { text: `The warm-up failed. ${known}`, raw: error };
}

/**
 * The cluster's words for why a container or a pod ended, as a sentence; null for another text.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
 */
function clusterSentence(error: string, work: string): string | null {
  if (/\bMAX_SECONDS\b/.test(error)) return CLUSTER_SENTENCES.DeadlineExceeded(work);
  const [, word, code] = /^(\w+)(?: \(exit code (\d+)\))?$/.exec(error.trim()) ?? [];
  if (word !== undefined && Object.hasOwn(CLUSTER_SENTENCES, word)) return CLUSTER_SENTENCES[word](work);
  return code === undefined ? null : `${capital(work)} broke off with an error (exit code ${code}).`;
}

const outOfTime = (work: string) => `The time allowed for ${work} ran out.`;
const stopped = (work: string) => `The cluster stopped ${work}.`;
const moved = (work: string) => `The cluster stopped ${work} to free resources.`;
const machineLost = (work: string) => `The machine under ${work} was shut down or lost.`;
const noImage = (work: string) => `The container image for ${work} could not be fetched.`;
const notStarted = (work: string) => `The container for ${work} could not be started.`;

const CLUSTER_SENTENCES: Readonly<Record<string, (work: string) => string>> = {
  OOMKilled: (work) => `${capital(work)} ran out of memory.`,
  DeadlineExceeded: outOfTime,
  SIGTERM: stopped,
  Evicted: moved,
  Preempting: moved,
  NodeLost: machineLost,
  NodeShutdown: machineLost,
  Terminated: machineLost,
  ErrImagePull: noImage,
  ImagePullBackOff: noImage,
  ErrImageNeverPull: noImage,
  InvalidImageName: noImage,
  ContainerCannotRun: notStarted,
  StartError: notStarted,
  RunContainerError: notStarted,
  CreateContainerError: notStarted,
  CreateContainerConfigError: notStarted,
  CrashLoopBackOff: notStarted,
};

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const MANIFEST_UNREAD = "The volume's manifest cannot be read";

/** A worker's error without the words that say the same as the sentence before it. */
function withoutManifestUnread(error: string): string {
  return error.replace(/^\s*manifest unreadable:\s*(?=\S)/i, "");
}

const STAGE_FAILURES: ReadonlyMap<string, string> = new Map([
  ["config", "The deployment is not set up for this work"],
  ["config!", "The deployment is not set up for this work"],
  ["setup!", MANIFEST_UNREAD],
  ["warmup", "The model was not made ready by the warm-up"],
  ["warmup!", "The model was not made ready by the warm-up"],
]);

function stageFailure(stage: string | null): string {
  const words = stageWords(stage);
  return words ? `It failed while ${words}` : "It failed";
}

function verifyHappening(error: string): Happening {
  const unread = () => ({ text: `It failed while checking results: ${quoted(error)}`, isQuoted: true });
  const all = /all (\d+) processed pages failed/.exec(error);
  if (all) return { text: "No page of this volume gave a result.", isQuoted: false };
  const counts = /verify failed: (\d+) missing, (\d+) failed/.exec(error);
  if (!counts) return unread();
  const [missing, failed] = [Number(counts[1]), Number(counts[2])];
  const parts = [
    ...(missing > 0 ? [`${pages(missing)} missing${named(error, "missing", missing)}`] : []),
    ...(failed > 0 ? [`${pages(failed)} without a result${named(error, "failed", failed)}`] : []),
  ];
  return parts.length > 0 ? { text: `${parts.join(", ")}.`, isQuoted: false } : unread();
}

function pages(count: number): string {
  return count === 1 ? "1 page is" : `${count} pages are`;
}

/** The first names of a list such as `missing=['0001', '0002'`, which may be cut open anywhere. */
function named(error: string, list: string, count: number): string {
  const start = error.lastIndexOf(`${list}=[`);
  if (start < 0) return "";
  const text = error.slice(start + list.length + 2).split("]", 1)[0];
  const names = text.split(", ").flatMap((item) => /^'([^']*)'$/.exec(item)?.[1] ?? []).slice(0, WORST_NAMES);
  if (names.length === 0) return "";
  return count > names.length ? ` (${names.join(", ")} and ${count - names.length} more)` : ` (${names.join(", ")})`;
}

function whatFollows({ permanent }: Reason, isFinal: boolean): string {
  return permanent || isFinal ? notTriedAgain() : "It will be tried again.";
}

/** A foreign text as the end of a sentence. */
function quoted(error: string): string {
  const text = error.replace(/\s+/g, " ").trim();
  const short = [...text.slice(0, 2 * MAX_QUOTED_ERROR)].slice(
    0,
    MAX_QUOTED_ERROR,
  ).join("");
  if (short.length < text.length) return `${short}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
