import { isOfEarlierAttempt, isOver, updatedInstant } from "./progress.ts";
import type { Pace, ProgressAnswer, RunState, StoredProgress } from "./types.ts";
import { rfc3339 } from "./values.ts";

/** The time that an estimate looks back, ms. Beside it, older pages weigh less and less. */
export const PACE_WINDOW_MS = 15 * 60_000;
/** The shortest time between two samples, ms: the progress of running volumes is cached for as long. */
export const MIN_SAMPLE_MS = 5_000;
/** An estimate needs pages counted over this time, ms. */
export const MIN_PACE_MS = 45_000;
/** It needs as many pages, too, before the window is full. */
export const MIN_PACE_PAGES = 10;
/** The first estimate, from the times in the files, has the weight of a measurement of this length, ms. */
const OPENING_MS = 60_000;
/** Running volumes whose pages are remembered between two samples. */
export const MAX_SAMPLED_VOLUMES = 256;
/** Volumes that ran stand for at most as many whose pages were not counted. */
const MAX_SCALE = 10;
/** An end further away is not an estimate, ms. */
const MAX_AHEAD_MS = 366 * 86_400_000;

/** The volumes of a campaign, as far as its pace depends on them. */
type StartedVolumes = ReturnType<typeof startedVolumes>;

/**
 * Sorts volumes by their states: how many are not pending, the same as one bit for each volume, and the indexes of the
 * active ones, ascending.
 */
export function startedVolumes(states: readonly RunState[]) {
  const startedBits = new Uint8Array(Math.ceil(states.length / 8));
  const active: number[] = [];
  let started = 0;
  for (let index = 0; index < states.length; index++) {
    if (states[index] === "pending") continue;
    started++;
    startedBits[index >> 3] |= 1 << (index & 7);
    if (states[index] === "active") active.push(index);
  }
  return { states, started, startedBits, active };
}

/** The results of one request for a running campaign. */
interface PaceSample {
  /** ms since 1970 */
  readonly at: number;
  readonly campaign: StartedVolumes;
  readonly answers: ReadonlyMap<number, ProgressAnswer>;
  /** See `VolumeStates.attemptAt`: pages of a file that is older do not count. */
  readonly attemptAt: (index: number) => number | null;
  /** Mean number of pages of the volumes counted so far; null while there are none. */
  readonly meanPages: number | null;
}

/**
 * Measures the speed of one run of a campaign from successive samples. Between two samples only pages of volumes count
 * whose pages are known in both, so that volumes read for the first time do not look like speed; a volume that had not
 * started had none. Volumes that ran and were not read are taken to be as fast as the others.
 *
 * The speed is a mean over the window in which the newest sample weighs as much as its share of the time. An estimate thus
 * never moves further than towards the speed of the newest sample, and by no more than that share. Until enough was
 * measured, the first estimate comes from the times in the files.
 *
 * It takes one bit for each volume and an entry for each of at most {@link MAX_SAMPLED_VOLUMES} running ones.
 */
export class PaceMeter {
  #started = new Uint8Array(0);
  #at: number | null = null;
  /** The most pages seen of volumes that ran at the last sample; null: not read. */
  #running = new Map<number, number | null>();
  /** Pages per ms. */
  #speed = 0;
  #coveredMs = 0;
  #pages = 0;
  #pace: Pace = UNKNOWN;

  /** Adds a sample and returns the estimates. A sample right after another one changes nothing. */
  sample(sample: PaceSample): Pace {
    const elapsedMs = this.#at === null ? null : sample.at - this.#at;
    if (elapsedMs !== null && elapsedMs >= 0 && elapsedMs < MIN_SAMPLE_MS) return this.#pace;
    // After a step of the clock backwards the times of two samples cannot be compared.
    if (elapsedMs !== null && elapsedMs < 0) this.#begin(0, 0, 0);
    const counted = this.#count(sample);
    if (elapsedMs !== null && elapsedMs > 0) this.#average(counted, elapsedMs);
    // Begins with what the files of one sample tell.
    const opening = this.#holdsEnough() ? null : openingSpeed(sample);
    if (opening !== null) this.#begin(opening, OPENING_MS, MIN_PACE_PAGES);
    this.#at = sample.at;
    return this.#pace = this.#estimate(sample);
  }

  #holdsEnough(): boolean {
    return this.#coveredMs >= PACE_WINDOW_MS || this.#coveredMs >= MIN_PACE_MS && this.#pages >= MIN_PACE_PAGES;
  }

  #begin(speed: number, coveredMs: number, pages: number): void {
    this.#speed = speed;
    this.#coveredMs = coveredMs;
    this.#pages = pages;
  }

  /** Compares the pages of volumes that ran since the last sample, and remembers those of the running ones. */
  #count({ campaign: { states, active, startedBits }, answers, attemptAt }: PaceSample) {
    const before = this.#running;
    const running = new Map<number, number | null>();
    // Volumes that ran since the last sample, those whose pages are known in both samples, and the pages.
    const counted = { ran: 0, known: 0, pages: 0 };
    const count = (index: number, then: number | null) => {
      const read = pagesOf(answers.get(index), attemptAt(index));
      // A new attempt of a volume has fewer pages at first than the attempt before.
      const now = read === null ? null : Math.max(read, then ?? 0);
      counted.ran++;
      if (then !== null && now !== null) {
        counted.known++;
        counted.pages += now - then;
      }
      return now;
    };
    for (const index of active) {
      const now = count(index, this.#hasStarted(index) ? before.get(index) ?? null : 0);
      if (running.size < MAX_SAMPLED_VOLUMES) running.set(index, now);
    }
    for (const [index, then] of before) {
      if (isOver(states[index])) count(index, then);
      // Its pod was deleted: what it had done is done when it starts again.
      else if (states[index] === "pending" && running.size < MAX_SAMPLED_VOLUMES) running.set(index, then);
    }
    this.#addStarted(startedBits, (index) => {
      if (isOver(states[index])) count(index, 0);
    });
    this.#running = running;
    return counted;
  }

  #hasStarted(index: number): boolean {
    return ((this.#started[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  /** Adds to the volumes that have started, and calls `visit` with each new one. */
  #addStarted(bits: Uint8Array, visit: (index: number) => void): void {
    if (this.#started.length < bits.length) {
      const larger = new Uint8Array(bits.length);
      larger.set(this.#started);
      this.#started = larger;
    }
    for (let byte = 0; byte < bits.length; byte++) {
      const added = bits[byte] & ~this.#started[byte];
      if (added === 0) continue;
      this.#started[byte] |= added;
      for (let bit = 0; bit < 8; bit++) if (added & (1 << bit)) visit(byte * 8 + bit);
    }
  }

  #average({ ran, known, pages }: Record<"ran" | "known" | "pages", number>, elapsedMs: number): void {
    if (known * MAX_SCALE < ran) return;
    // Time before the first page is that of the warm-up and of loading models.
    if (this.#pages === 0 && pages === 0) return;
    const speed = known === 0 ? 0 : pages * (ran / known) / elapsedMs;
    const window = Math.min(PACE_WINDOW_MS, this.#coveredMs + elapsedMs);
    this.#speed += (speed - this.#speed) * Math.min(1, elapsedMs / window);
    this.#coveredMs = window;
    this.#pages += pages;
  }

  #estimate(sample: PaceSample): Pace {
    const window = Math.round(this.#coveredMs / 1000);
    if (!this.#holdsEnough()) return { ...UNKNOWN, window };
    const remaining = remainingPages(sample);
    const aheadMs = remaining === null || this.#speed === 0 ? Infinity : remaining / this.#speed;
    return {
      pagesPerMinute: Math.round(this.#speed * 600_000) / 10,
      endsAt: aheadMs > MAX_AHEAD_MS ? null : rfc3339(sample.at + aheadMs),
      window,
    };
  }
}

const UNKNOWN: Pace = { pagesPerMinute: null, endsAt: null, window: 0 };

/** Pages that are still to do; null while nothing tells how many pages a volume has. */
function remainingPages(sample: PaceSample): number | null {
  const { campaign: { states, started, active }, answers, attemptAt, meanPages } = sample;
  let [unread, known, pages] = [0, 0, 0];
  for (const index of active) {
    const answer = answers.get(index);
    const total = answer?.progress?.total ?? 0;
    // Before its manifest is read, a volume says that it has no pages.
    if (total <= 0) unread++;
    else {
      known++;
      pages += total - (pagesOf(answer, attemptAt(index)) ?? 0);
    }
  }
  const pending = states.length - started;
  if (meanPages === null) return pending + unread === 0 ? pages : null;
  const meanRunning = known === 0 ? meanPages : pages / known;
  return pages + unread * meanRunning + pending * meanPages;
}

/** The pages of a volume that its newest attempt is done with, well or not; null for a volume that was not read. */
function pagesOf(answer: ProgressAnswer | undefined, attemptAt: number | null): number | null {
  if (!answer?.answered || answer.forbidden) return null;
  if (!answer.progress || isOfEarlierAttempt(updatedInstant(answer.progress), attemptAt)) return 0;
  return pagesIn(answer.progress);
}

function pagesIn({ done, failed, total }: StoredProgress): number {
  return Math.min(Math.max(0, done) + Math.max(0, failed), Math.max(0, total));
}

type RunningVolume = ReturnType<typeof runningVolume>;

/**
 * The speed of a campaign as one sample tells it by the times in its files, so that the first read of a session has an
 * estimate: pages per ms, null where the files hold too little.
 */
function openingSpeed(sample: PaceSample): number | null {
  const running = sample.campaign.active.map((index) => runningVolume(sample, index));
  return speedOfWindow(sample, running) ?? speedOfRunning(running);
}

/** The pages within a window that starts when a volume ended; null unless all ended volumes were read. */
function speedOfWindow(sample: PaceSample, running: readonly RunningVolume[]): number | null {
  const { at } = sample;
  const ended = endedVolumes(sample);
  if (!ended) return null;
  const recent = ended.filter((volume) => at - volume.at < PACE_WINDOW_MS).sort((a, b) => a.at - b.at);
  if (recent.length < 2) return null;
  const isFull = recent.length < ended.length;
  const begin = isFull ? at - PACE_WINDOW_MS : recent[0].at;
  const counted = isFull ? recent : recent.slice(1);
  // Volumes that were under way when the window began had done half of their pages by then, on average.
  const successors = running.filter(({ since }) => since === null || since > begin).length - (isFull ? 0 : 1);
  const halves = Math.max(0, Math.min(successors, counted.length)) / 2;
  const done = sum(counted.map(({ pages }) => pages)) - halves * sum(recent.map(({ pages }) => pages)) / recent.length;
  const pages = done + sum(running.map((volume) => pagesSince(volume, begin, at)));
  return pages >= MIN_PACE_PAGES && at - begin >= MIN_PACE_MS ? pages / (at - begin) : null;
}

/** The median of what running volumes did since they began: a volume that went on from an earlier attempt seems faster. */
function speedOfRunning(running: readonly RunningVolume[]): number | null {
  const timed = running.flatMap(({ pages, since, updated }) =>
    since === null || updated === null || updated - since < MIN_PACE_MS ? [] : [{ pages, ms: updated - since }]
  );
  if (sum(timed.map(({ pages }) => pages)) < MIN_PACE_PAGES) return null;
  const speeds = timed.map(({ pages, ms }) => pages / ms).sort((a, b) => a - b);
  const middle = speeds.length / 2;
  return (speeds[Math.ceil(middle) - 1] + speeds[Math.floor(middle)]) / 2 * running.length;
}

/** The pages of a running volume, when it began and when its file was written, ms since 1970. */
function runningVolume({ answers, attemptAt }: PaceSample, index: number) {
  const since = attemptAt(index);
  const progress = answers.get(index)?.progress ?? null;
  const updated = progress && updatedInstant(progress);
  if (!progress || isOfEarlierAttempt(updated, since)) return { pages: 0, since, updated: null };
  return { pages: pagesIn(progress), since, updated };
}

/** The pages of ended volumes and when they ended; null where one of them was not read, or does not say when it ended. */
function endedVolumes({ at, campaign: { states, started }, answers }: PaceSample) {
  if (answers.size < started) return null;
  const ended: { readonly pages: number; readonly at: number }[] = [];
  for (const [index, state] of states.entries()) {
    if (!isOver(state)) continue;
    const answer = answers.get(index);
    if (!answer?.answered || answer.forbidden) return null;
    if (!answer.progress) continue;
    const updated = updatedInstant(answer.progress);
    if (updated === null) return null;
    ended.push({ pages: pagesIn(answer.progress), at: Math.min(updated, at) });
  }
  return ended;
}

/** The pages within the window; a volume that began before it counts as if its speed were even. */
function pagesSince({ pages, since }: RunningVolume, begin: number, at: number): number {
  return since === null || since >= begin ? pages : pages * (at - begin) / (at - since);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
