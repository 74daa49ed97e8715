import { endsWithin } from "./body_reader.ts";

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
