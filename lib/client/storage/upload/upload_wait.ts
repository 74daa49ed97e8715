import type { Clock } from "@/lib/client/poller.ts";

/** Shortest and longest wait after failures in a row, ms. */
const LEAST_MS = 500;
const MOST_MS = 30_000;

/** Waits. @throws the signal's reason when it aborts meanwhile */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * How long to wait after so many failures in a row: twice as long each time, and spread, so that parts that failed
 * together do not come back together.
 *
 * @param random 0 to 1
 */
export function backoffMs(failures: number, random: number): number {
  const most = Math.min(MOST_MS, LEAST_MS * 2 ** (failures - 1));
  return most * (0.5 + random / 2);
}
