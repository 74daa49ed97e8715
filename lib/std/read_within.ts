import { endsWithin } from "./ends_within.ts";

/**
 * Wraps a read that may never end, such as one of a network share that is gone. It is never started a second time while
 * it runs.
 *
 * @param ms how long it is waited for
 * @returns reads; null when it is late, and at once while a late one still runs
 * @throws what `read` throws
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
    // It may have ended in the turn in which it became late: then nothing would ever say that it is over.
    isLate = running === reading;
    return null;
  };
}
