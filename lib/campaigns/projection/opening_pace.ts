import { isOfEarlierAttempt, isOver, updatedInstant } from "./progress.ts";
import type { ProgressAnswer, RunState } from "./types.ts";

/** What a request has read of a running campaign, as far as the times in the files tell its speed. */
interface OpeningSample {
  /** ms since 1970 */
  readonly at: number;
  readonly campaign: {
    readonly states: readonly RunState[];
    /** How many are not pending. */
    readonly started: number;
    /** Indexes of the active ones. */
    readonly active: readonly number[];
  };
  readonly answers: ReadonlyMap<number, ProgressAnswer>;
  /** As `RunStates.attemptAt`. */
  readonly attemptAt: (index: number) => number | null;
}

/** How much an estimate needs, and how far it looks back. */
interface OpeningBounds {
  readonly windowMs: number;
  readonly minMs: number;
  readonly minPages: number;
}

/** The pages of a running volume; ms since 1970. */
interface RunningVolume {
  readonly pages: number;
  readonly since: number | null;
  readonly updated: number | null;
}

/** The pages of a volume that has ended; ms since 1970. */
interface EndedVolume {
  readonly pages: number;
  readonly at: number;
}

/**
 * The speed of a campaign as one sample tells it by the times in its files, so that the first read of a session has an
 * estimate: pages per ms, null where the files hold too little.
 */
export function openingSpeed(sample: OpeningSample, bounds: OpeningBounds): number | null {
  const running = sample.campaign.active.map((index) => runningVolume(sample, index));
  return speedOfWindow(sample, running, bounds) ?? speedOfRunning(running, bounds);
}

/** The pages within a window that begins with the end of a volume; null unless all ended volumes were read. */
function speedOfWindow(sample: OpeningSample, running: readonly RunningVolume[], bounds: OpeningBounds): number | null {
  const { at } = sample;
  const ended = endedVolumes(sample);
  if (!ended) return null;
  const recent = ended.filter((volume) => at - volume.at < bounds.windowMs).sort((a, b) => a.at - b.at);
  if (recent.length < 2) return null;
  const isFull = recent.length < ended.length;
  const begin = isFull ? at - bounds.windowMs : recent[0].at;
  const counted = isFull ? recent : recent.slice(1);
  // Volumes that were under way when the window began had done half of their pages by then, on average.
  const successors = running.filter(({ since }) => since === null || since > begin).length - (isFull ? 0 : 1);
  const halves = Math.max(0, Math.min(successors, counted.length)) / 2;
  const done = sum(counted.map(({ pages }) => pages)) - halves * sum(recent.map(({ pages }) => pages)) / recent.length;
  const pages = done + sum(running.map((volume) => pagesSince(volume, begin, at)));
  return pages >= bounds.minPages && at - begin >= bounds.minMs ? pages / (at - begin) : null;
}

/** The median of what running volumes did since they began: a volume that went on from an earlier attempt seems faster. */
function speedOfRunning(running: readonly RunningVolume[], { minMs, minPages }: OpeningBounds): number | null {
  const timed = running.flatMap(({ pages, since, updated }) =>
    since === null || updated === null || updated - since < minMs ? [] : [{ pages, ms: updated - since }]
  );
  if (sum(timed.map(({ pages }) => pages)) < minPages) return null;
  const speeds = timed.map(({ pages, ms }) => pages / ms).sort((a, b) => a - b);
  const middle = speeds.length / 2;
  return (speeds[Math.ceil(middle) - 1] + speeds[Math.floor(middle)]) / 2 * running.length;
}

function runningVolume({ answers, attemptAt }: OpeningSample, index: number): RunningVolume {
  const since = attemptAt(index);
  const progress = answers.get(index)?.progress ?? null;
  const updated = progress && updatedInstant(progress);
  if (!progress || isOfEarlierAttempt(updated, since)) return { pages: 0, since, updated: null };
  return { pages: pagesOf(progress), since, updated };
}

/** Null where one of them was not read, or does not say when it ended. */
function endedVolumes({ at, campaign: { states, started }, answers }: OpeningSample): EndedVolume[] | null {
  if (answers.size < started) return null;
  const ended: EndedVolume[] = [];
  for (const [index, state] of states.entries()) {
    if (!isOver(state)) continue;
    const answer = answers.get(index);
    if (!answer?.answered || answer.forbidden) return null;
    if (!answer.progress) continue;
    const updated = updatedInstant(answer.progress);
    if (updated === null) return null;
    ended.push({ pages: pagesOf(answer.progress), at: Math.min(updated, at) });
  }
  return ended;
}

/** Of a volume that began before the window, as many as fall into it at an even speed. */
function pagesSince({ pages, since }: RunningVolume, begin: number, at: number): number {
  return since === null || since >= begin ? pages : pages * (at - begin) / (at - since);
}

function pagesOf({ done, failed, total }: NonNullable<ProgressAnswer["progress"]>): number {
  return Math.min(Math.max(0, done) + Math.max(0, failed), Math.max(0, total));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
