import type { ContainerWaiting, JobDetail, JobSummary, Reason, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { isKeyOf } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/campaigns.ts";
import * as sv from "@/locales/sv/campaigns.ts";
import { isAtGate, isHeldByWarmup, isSettled } from "./campaign_state.ts";

/** One problem of a card. */
export interface Problem {
  /** The volume it is about; null: the campaign. */
  readonly volume: string | null;
  readonly sentence: string;
  /** The report of the cluster or the worker, unless the sentence contains it. */
  readonly raw: string | null;
  /** A person must act; other problems are shown without emphasis. */
  readonly isTrouble: boolean;
  /** The volume's run log. */
  readonly log: { readonly logUrl: string; readonly manifestUrl: string | null; readonly live: boolean } | null;
}

/**
 * The problems of a card that are not in its loaded rows: the warm-up, why it ended, failed volumes, the newest volume if it
 * cannot start, the newest page error (spec, Browser behaviour).
 *
 * @returns the problems, and the number that is expected once the detail is read
 * @param shown ids of the rows on the page; null for a folded card, which shows lost pages elsewhere
 */
export function problemsOf(job: JobSummary, detail: JobDetail | null, shown: ReadonlySet<string> | null) {
  const campaign = campaignProblems(job);
  const { failures = [], latest = null } = detail ?? {};
  const failed = failures.filter(({ id }) => !shown?.has(id))
    .map((volume) => volumeProblem(volume, failureWords(volume.reason, true)));
  const starting = latest?.containerWaiting && !shown?.has(latest.id)
    ? [volumeProblem(latest, containerWords(latest.containerWaiting, latest.final === true))]
    : [];
  const page = shown && detail ? lostPage(job, detail, shown) : [];
  const problems = [...campaign, ...failed, ...starting, ...page];
  const expected = campaign.length + Math.min(job.counts.failed, MAX_FAILURES);
  return { problems, expected: detail ? problems.length : expected };
}

/** Whether a volume's run may still write its log: a failed one may be tried again. */
export function isLogLive(state: VolumeView["state"]): boolean {
  return state !== "done" && state !== "unknown";
}

/**
 * Whether the run of the volume with the newest error may still write its log. The detail may not contain this volume.
 */
export function isErrorLive(job: JobSummary, { volumes, failures, latest }: JobDetail, id: string): boolean {
  const volume = [...volumes, ...failures, ...(latest ? [latest] : [])].find((volume) => volume.id === id);
  return volume ? isLogLive(volume.state) : !isSettled(job);
}

/** Failed volumes that a detail names (spec, Limits). */
export const MAX_FAILURES = 50;

function campaignProblems(job: JobSummary): Problem[] {
  const warmup = warmupWords(job);
  const ending = endingWords(job);
  const volumes = volumesNotDone(job);
  const text = [ending?.text, volumes].filter(Boolean).join(" ");
  const isTrouble = isSettled(job) && (job.phase !== "Succeeded" || job.counts.failed > 0);
  return [
    ...(warmup ? [campaignProblem(warmup, job.warmup.phase !== "running")] : []),
    ...(text ? [campaignProblem({ text, raw: ending?.raw ?? null }, isTrouble)] : []),
  ];
}

/** How many volumes have no result. Without its Job, a campaign does not know which of the others did not finish. */
function volumesNotDone(job: JobSummary): string | null {
  const { counts: { total, done, failed }, phase, jobGone, ending } = job;
  if (!isSettled(job)) return failed === 0 ? null : PROBLEMS.volumesFailed(failed);
  const unfinished = jobGone || !ending ? 0 : Math.max(0, total - done - failed);
  if (failed + unfinished === 0) return phase === "Failed" ? PROBLEMS.campaignFailed : null;
  const count = PROBLEMS.notDone(failed, unfinished);
  return phase === "Succeeded" && failed === 0 ? count : `${count} ${PROBLEMS.runAgain(failed + unfinished)}`;
}

function campaignProblem({ text, raw }: FailureWords, isTrouble: boolean): Problem {
  return { volume: null, sentence: text, raw, isTrouble, log: null };
}

function volumeProblem({ id, logUrl, manifestUrl, state }: VolumeView, { text, raw }: FailureWords): Problem {
  return { volume: id, sentence: text, raw, isTrouble: false, log: { logUrl, manifestUrl, live: isLogLive(state) } };
}

function lostPage(job: JobSummary, detail: JobDetail, shown: ReadonlySet<string>): Problem[] {
  const error = detail.lastError;
  if (!error || shown.has(error.volume)) return [];
  return [{
    volume: error.volume,
    sentence: PROBLEMS.pageLost(error.page, error.error.replace(/\s+/g, " ").trim()),
    raw: null,
    isTrouble: false,
    log: { logUrl: error.logUrl, manifestUrl: null, live: isErrorLive(job, detail, error.volume) },
  }];
}

export const PROBLEMS = inLanguage({ en: en.PROBLEMS, sv: sv.PROBLEMS });
const STAGE_WORDS: Readonly<Record<string, string>> = inLanguage({ en: en.STAGE_WORDS, sv: sv.STAGE_WORDS });
const JOB_ENDINGS = inLanguage({ en: en.JOB_ENDINGS, sv: sv.JOB_ENDINGS });
const VOLUME_ENDS = inLanguage({ en: en.VOLUME_ENDS, sv: sv.VOLUME_ENDS });
const WARMUP_ENDS = inLanguage({ en: en.WARMUP_ENDS, sv: sv.WARMUP_ENDS });

/** Sentences of problems that a card shows before the rest is folded away (spec, Limits). */
export const MAX_PROBLEM_SENTENCES = 3;
/** Characters of a foreign error text within a sentence. */
const MAX_QUOTED_ERROR = 300;

/** The work of a stage, for the line below a volume; "" for a stage that needs no words. */
export function stageWords(stage: string | null): string {
  return stage !== null && Object.hasOwn(STAGE_WORDS, stage) ? STAGE_WORDS[stage] : "";
}

/** A failure, or the state of a volume, in our words. */
export interface FailureWords {
  readonly text: string;
  /** The report of the cluster or the worker, where the text does not contain it; else null. */
  readonly raw: string | null;
}

/**
 * A volume's failure in plain sentences: what happened, and whether it is tried again.
 *
 * @param reason absent: nothing more is known
 * @param isFinal the volume is failed, not between two attempts
 */
export function failureWords(reason: Reason | undefined, isFinal: boolean): FailureWords {
  const { text, raw } = reason ? whatHappened(reason) : { text: PROBLEMS.unexplained, raw: null };
  return { text: `${text} ${reason?.permanent || isFinal ? PROBLEMS.notTriedAgain : PROBLEMS.triedAgain}`, raw };
}

/** Why an active volume does not start. */
export function containerWords(waiting: ContainerWaiting, isFinal: boolean): FailureWords {
  return waitWords(waiting, VOLUME_ENDS, isFinal ? PROBLEMS.notTriedAgain : PROBLEMS.clusterKeepsTrying);
}

/** Why a campaign ended early, or is being ended; null for any other. */
function endingWords({ ending, phase }: JobSummary): FailureWords | null {
  if (!ending) return null;
  const { reason, message } = ending;
  const why = isKeyOf(JOB_ENDINGS, reason) && reason !== "other"
    ? JOB_ENDINGS[reason]
    : JOB_ENDINGS.other(quoted(reason));
  return {
    text: phase === "Running" ? `${PROBLEMS.campaignIsEnding} ${why}` : why,
    raw: message === null ? reason : `${reason}: ${message}`,
  };
}

/**
 * The problem of a campaign's warm-up, and what waits for it: this campaign's volumes, or only the next campaign if this one
 * has started or is over; null: no problem.
 */
function warmupWords(job: JobSummary): FailureWords | null {
  const { warmup, pipeline, phase } = job;
  const isHeld = isHeldByWarmup(job) || isAtGate(job);
  if (warmup.phase === "missing" && phase !== "Succeeded") {
    return { text: isHeld ? PROBLEMS.noWarmupHeld(pipeline) : PROBLEMS.noWarmup(pipeline), raw: null };
  }
  if (warmup.containerWaiting && !isSettled(job)) {
    return waitWords(warmup.containerWaiting, WARMUP_ENDS, PROBLEMS.clusterKeepsTrying);
  }
  if (warmup.phase !== "failed") return null;
  const { text, raw } = warmup.reason ? warmupCause(warmup.reason) : { text: PROBLEMS.warmupFailed, raw: null };
  return { text: `${text} ${isHeld ? PROBLEMS.warmupHolds : PROBLEMS.warmupHoldsNext(pipeline)}`, raw };
}

const WORST_NAMES = 3;

function whatHappened({ stage, permanent, error }: Reason): FailureWords {
  const raw = error.trim() || null;
  const isCheck = stage === "verify" || error.startsWith("verify failed:");
  const known = clusterSentence(error, VOLUME_ENDS) ?? (isCheck ? checkSentence(error) : null);
  if (known !== null) return { text: known, raw };
  if (isCheck) return { text: PROBLEMS.checkFailed(quoted(error)), raw: null };
  if (stage === null && permanent === null && /^\s*[{[]/.test(error)) return { text: PROBLEMS.unreadableMessage, raw };
  if (raw === null) return { text: PROBLEMS.noMessage, raw };
  const what = stageFailure(stage, permanent === true);
  // The worker's words that say the same are left out.
  const cause = what === PROBLEMS.manifestUnread ? error.replace(/^\s*manifest unreadable:\s*(?=\S)/i, "") : error;
  return { text: `${what}: ${quoted(cause)}`, raw: null };
}

function warmupCause({ error }: Reason): FailureWords {
  if (/no space left on device/i.test(error)) return { text: PROBLEMS.warmupDiskFull, raw: error };
  const known = clusterSentence(error, WARMUP_ENDS);
  return known === null
    ? { text: PROBLEMS.warmupFailedOf(quoted(error)), raw: null }
    : { text: `${PROBLEMS.warmupFailed} ${known}`, raw: error };
}

function waitWords({ reason, message }: ContainerWaiting, ends: typeof VOLUME_ENDS, next: string): FailureWords {
  const text = clusterSentence(reason, ends) ?? PROBLEMS.containerWaits(quoted(reason));
  return { text: `${text} ${next}`, raw: message === null ? reason : `${reason}: ${message}` };
}

/**
 * The cluster's words for why a container or a pod ended, as a sentence; null for another text.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
 */
function clusterSentence(error: string, ends: typeof VOLUME_ENDS): string | null {
  if (/\bMAX_SECONDS\b/.test(error)) return ends.outOfTime;
  const [, word, code] = /^(\w+)(?: \(exit code (\d+)\))?$/.exec(error.trim()) ?? [];
  if (word !== undefined && Object.hasOwn(CLUSTER_WORDS, word)) return ends[CLUSTER_WORDS[word]];
  return code === undefined ? null : ends.brokeOff(code);
}

const CLUSTER_WORDS: Readonly<Record<string, Exclude<keyof typeof VOLUME_ENDS, "brokeOff">>> = {
  OOMKilled: "outOfMemory",
  DeadlineExceeded: "outOfTime",
  SIGTERM: "stopped",
  Evicted: "moved",
  Preempting: "moved",
  NodeLost: "machineLost",
  NodeShutdown: "machineLost",
  Terminated: "machineLost",
  ErrImagePull: "noImage",
  ImagePullBackOff: "noImage",
  ErrImageNeverPull: "noImage",
  InvalidImageName: "noImage",
  ContainerCannotRun: "notStarted",
  StartError: "notStarted",
  RunContainerError: "notStarted",
  CreateContainerError: "notStarted",
  CreateContainerConfigError: "notStarted",
  CrashLoopBackOff: "notStarted",
};

function stageFailure(stage: string | null, isPermanent: boolean): string {
  if (stage === "config") return PROBLEMS.notSetUp;
  if (stage === "warmup") return PROBLEMS.modelNotReady;
  if (stage === "setup" && isPermanent) return PROBLEMS.manifestUnread;
  const words = stageWords(stage);
  return words ? PROBLEMS.failedWhile(words) : PROBLEMS.failed;
}

/** The result of a failed check of the pages; null for another text. */
function checkSentence(error: string): string | null {
  if (/all \d+ processed pages failed/.test(error)) return PROBLEMS.noPageGaveResult;
  const [, missing = 0, failed = 0] = /verify failed: (\d+) missing, (\d+) failed/.exec(error)?.map(Number) ?? [];
  const parts = [
    ...(missing > 0 ? [PROBLEMS.pagesMissing(missing, named(error, "missing", missing))] : []),
    ...(failed > 0 ? [PROBLEMS.pagesWithoutResult(failed, named(error, "failed", failed))] : []),
  ];
  return parts.length > 0 ? `${parts.join(", ")}.` : null;
}

/** The first names of a list such as `missing=['0001', '0002'`, which may be cut open anywhere. */
function named(error: string, list: string, count: number): string {
  const start = error.lastIndexOf(`${list}=[`);
  if (start < 0) return "";
  const text = error.slice(start + list.length + 2).split("]", 1)[0];
  const names = text.split(", ").flatMap((item) => /^'([^']*)'$/.exec(item)?.[1] ?? []).slice(0, WORST_NAMES);
  if (names.length === 0) return "";
  const shown = names.join(", ");
  return ` (${count > names.length ? PROBLEMS.andMore(shown, count - names.length) : shown})`;
}

/** A foreign text as the end of a sentence. */
function quoted(error: string): string {
  const text = error.replace(/\s+/g, " ").trim();
  const short = [...text.slice(0, 2 * MAX_QUOTED_ERROR)].slice(0, MAX_QUOTED_ERROR).join("");
  if (short.length < text.length) return `${short}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}

const WAITING_WORDS = inLanguage({ en: en.WAITING_WORDS, sv: sv.WAITING_WORDS });

/** Why a campaign does no work, with the cluster's own words; null for one that works or has ended. */
export function waitingWords(job: JobSummary): FailureWords | null {
  if (isSettled(job)) return null;
  const { waiting, warmup, phase, counts: { total, active, done, failed } } = job;
  const raw = waiting && [waiting.reason, waiting.message ?? ""].filter(Boolean).join(": ");
  if (phase === "Paused") {
    const text = WAITING_WORDS.paused(Math.max(0, total - active - done - failed));
    return { text: waiting?.code === "quota" ? `${text} ${WAITING_WORDS.quota}.` : text, raw };
  }
  if (waiting) {
    const { code, reason } = waiting;
    return { text: Object.hasOwn(WAITING_WORDS, code) ? WAITING_WORDS[code] : WAITING_WORDS.other(reason), raw };
  }
  if (phase !== "Queued") return null;
  return { text: warmup.phase === "succeeded" ? WAITING_WORDS.queue : WAITING_WORDS.warmup, raw: null };
}
