import type { Reason, Warmup } from "@/lib/campaigns/projection/types.ts";

/** Sentences of problems that a card shows before the rest is folded away (spec, Limits). */
export const MAX_PROBLEM_SENTENCES = 3;
/** Characters of a foreign error text within a sentence. */
const MAX_QUOTED_ERROR = 300;

/** What a worker does in a stage, for the line below a volume; "" for a stage that needs no words. */
export function stageWords(stage: string | null): string {
  return STAGE_WORDS.get(stage ?? "") ?? "";
}

/**
 * A volume's failure in plain sentences: what happened, and whether it is tried again. `isFinal`: the volume is
 * failed, not between two attempts.
 */
export function failureSentences(reason: Reason, isFinal: boolean): string {
  return `${whatHappened(reason)} ${whatFollows(reason, isFinal)}`;
}

/** A failed volume of which nothing more is known. */
export function unexplainedFailure(): string {
  return `The volume failed, and nothing is left that says why. ${ALL_RETRIES_USED}`;
}

/** The problem of a campaign's warm-up; null when there is none. */
export function warmupSentence(warmup: Warmup): string | null {
  if (warmup.phase !== "failed") return null;
  const cause = warmup.reason ? `The warm-up failed: ${quoted(warmup.reason.error)}` : "The warm-up failed.";
  return `${cause} No volume starts before a warm-up of this pipeline succeeds.`;
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

const ALL_RETRIES_USED = "All retries are used: run this volume in a new campaign.";
const WORST_NAMES = 3;

function whatHappened({ stage, permanent, error }: Reason): string {
  if (error === "DeadlineExceeded" || /\bMAX_SECONDS\b/.test(error)) {
    return "The time allowed for this volume ran out.";
  }
  if (error === "SIGTERM") {
    return "The cluster stopped the work on this volume.";
  }
  const killed = /^(\w+) \(exit code (\d+)\)$/.exec(error);
  if (killed) {
    return `The work on this volume broke off (${endingWords(killed[1])}, exit code ${killed[2]}).`;
  }
  if (error === "Evicted") {
    return "The cluster stopped the work on this volume to free resources.";
  }
  if (stage === "verify" || error.startsWith("verify failed:")) {
    return verifySentence(error);
  }
  if (stage === null && permanent === null && /^\s*[{[]/.test(error)) {
    return "The volume stopped with a message that cannot be read.";
  }
  if (error.trim() === "") return "The volume stopped without saying why.";
  return `${STAGE_FAILURES.get(`${stage}${permanent ? "!" : ""}`) ?? stageFailure(stage)}: ${quoted(error)}`;
}

const STAGE_FAILURES: ReadonlyMap<string, string> = new Map([
  ["config", "The deployment is not set up for this work"],
  ["config!", "The deployment is not set up for this work"],
  ["setup!", "The volume's manifest cannot be read"],
  ["warmup", "The model was not made ready by the warm-up"],
  ["warmup!", "The model was not made ready by the warm-up"],
]);

function stageFailure(stage: string | null): string {
  const words = stageWords(stage);
  return words ? `It failed while ${words}` : "It failed";
}

function endingWords(reason: string): string {
  return reason === "OOMKilled" ? "out of memory" : reason === "Error" ? "an error" : reason;
}

function verifySentence(error: string): string {
  const all = /all (\d+) processed pages failed/.exec(error);
  if (all) return "No page of this volume gave a result.";
  const counts = /verify failed: (\d+) missing, (\d+) failed/.exec(error);
  if (!counts) return `It failed while checking results: ${quoted(error)}`;
  const [missing, failed] = [Number(counts[1]), Number(counts[2])];
  const parts = [
    ...(missing > 0 ? [`${pages(missing)} missing${named(error, "missing", missing)}`] : []),
    ...(failed > 0 ? [`${pages(failed)} without a result${named(error, "failed", failed)}`] : []),
  ];
  return parts.length > 0 ? `${parts.join(", ")}.` : `It failed while checking results: ${quoted(error)}`;
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
  if (permanent) {
    return "It is not tried again: when the cause is mended, run this volume in a new campaign.";
  }
  return isFinal ? ALL_RETRIES_USED : "It will be tried again.";
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
