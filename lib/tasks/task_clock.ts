import { sleep } from "@/lib/std/sleep.ts";

/** The time of a process. It only moves forward, whatever is done to the clock of the machine. */
export interface TaskClock {
  /** ms since an arbitrary moment */
  now(): number;
  /** Resolves after so many ms, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const PROCESS_CLOCK: TaskClock = { now: () => performance.now(), sleep };

/** ms since 1970 by a clock that is read once and only moves forward, so that times of one process can be compared. */
export function steadyTime(): () => number {
  const from = Date.now() - performance.now();
  return () => Math.floor(from + performance.now());
}
