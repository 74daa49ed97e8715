/** Latest delay of a deadline, ms. */
const TICK_MS = 50;

interface Deadline {
  /** The time when it is due, by `performance.now`, ms. */
  readonly at: number;
  readonly onTime: () => void;
  /** Its index in {@link waiting}; -1 when it is due or cancelled. */
  index: number;
}

/**
 * Pending deadlines, in no order. Not a Set, which replaces its hash table as entries come and go: each table refers to the
 * next, so one in V8's old generation retains all later ones, and the objects of their callbacks, until the next full
 * collection.
 */
const waiting: Deadline[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

/**
 * Calls back once so much time has passed, or up to {@link TICK_MS} later. All deadlines share one timer: nearly all are
 * cancelled, and a timer for each costs more than an entry in a list.
 *
 * @param ms from `now` on, by `performance.now`; a caller that knows it saves a look at the clock
 * @returns a function that cancels it; the timer alone does not keep the process alive
 */
export function deadline(ms: number, onTime: () => void, now: number = performance.now()): () => void {
  const entry = { at: now + ms, onTime, index: waiting.length };
  if (timer === null) timer = setTimeout(tick, TICK_MS);
  else if (waiting.length === 0) timer.ref();
  waiting.push(entry);
  return function cancelDeadline() {
    if (remove(entry) && waiting.length === 0) timer?.unref();
  };
}

function tick(): void {
  // Set first: if a callback throws, the others are called with the next tick.
  timer = waiting.length > 0 ? setTimeout(tick, TICK_MS) : null;
  const now = performance.now();
  for (const entry of waiting.filter(({ at }) => at <= now)) if (remove(entry)) entry.onTime();
  if (waiting.length === 0) timer?.unref();
}

/** The last one takes its index. @returns whether it was still waiting */
function remove(entry: Deadline): boolean {
  const { index } = entry;
  if (index < 0) return false;
  entry.index = -1;
  const last = waiting.pop();
  if (last && last !== entry) {
    waiting[index] = last;
    last.index = index;
  }
  return true;
}

/**
 * Waits for work with a timeout.
 *
 * @param cancel must end the work; called at the timeout
 * @returns the result of the work
 * @throws the error of `late` after the timeout; else that of the work
 */
export async function withDeadline<T>(
  ms: number,
  { work, cancel, late }: { work: () => Promise<T>; cancel: () => void; late: () => Error },
): Promise<T> {
  let isLate = false;
  const release = deadline(ms, () => {
    isLate = true;
    cancel();
  });
  try {
    const result = await work();
    if (!isLate) return result;
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    release();
  }
  throw late();
}

/**
 * Waits for work up to a timeout. Late work continues.
 *
 * @returns whether the work has ended, successfully or not
 */
export function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = deadline(ms, () => resolve(false));
    const end = () => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}

/**
 * Wraps a read that may never end, such as one of a network share that is gone. Never starts a second read while one runs.
 *
 * @param ms timeout
 * @returns a function that reads; null after the timeout, and at once while a late read still runs
 */
export function readWithin<T>(ms: number, read: () => Promise<T>): () => Promise<T | null> {
  let running: Promise<T> | null = null;
  let isLate = false;
  return async function readInTime() {
    if (isLate) return null;
    const reading = running ??= read().finally(() => {
      running = null;
      isLate = false;
    });
    if (await endsWithin(ms, reading)) return await reading;
    // It may have ended in the same turn: then `isLate` would never be reset.
    isLate = running === reading;
    return null;
  };
}

/** Resolves after so many ms, or when `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}

/** Waits for work at most until a signal aborts. Work that goes on is not waited for. @throws the reason of the signal */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Limits how often something is done, such as reporting an error that repeats with each request.
 *
 * @param intervalMs shortest time between two `true`, ms
 * @param now ms
 */
export function atMostEvery(intervalMs: number, now = () => performance.now()): () => boolean {
  let last = -Infinity;
  return function mayHappen() {
    const time = now();
    if (time - last < intervalMs) return false;
    last = time;
    return true;
  };
}
