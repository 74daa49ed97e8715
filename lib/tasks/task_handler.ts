import type { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { sleep } from "@/lib/std/timing.ts";
import type { Blobs, Task, TaskEnd, TaskKind } from "./task.ts";

/** A kind of tasks, and what their progress is: JSON of up to a few hundred KiB. */
export interface TaskType<P> {
  readonly kind: TaskKind;
  readonly progress: z.ZodType<P>;
  /**
   * Whether only the gateway can say what it works on: its progress is sealed, and so are the digests of its blobs, which
   * never change. False when absent.
   */
  readonly isSealed?: boolean;
  /** Whether its blobs change although its progress is sealed: that says the digests of those that count. */
  readonly writesBlobs?: boolean;
}

/** Performs the tasks of one kind. */
export interface TaskHandler<P> extends TaskType<P> {
  /** Whether a task that is ready needs its sealed keys until it expires; false when absent. */
  readonly keepsCaller?: boolean;
  /**
   * Works until the task is done. It may be called again for the same task, in this process or in another one: after an
   * interruption, or after an error of the store that may pass. Then it goes on from the last checkpoint.
   *
   * @returns the progress with which the task ends
   * @throws HttpError that ends the task as failed, its detail is shown to the owner; or what `job` throws when it is
   *   interrupted. No work may go on after that.
   */
  run(job: Job<P>): Promise<P>;
  /**
   * Called before the end of a task is stored, whatever ended it: again where this process dies before that. It must
   * never throw.
   */
  onEnd?(ended: EndedTask<P>): Promise<void>;
}

/** A task whose work has ended. */
export interface EndedTask<P> extends Pick<Task, "id" | "bucket" | "owner"> {
  readonly state: TaskEnd["state"];
  /** Why it failed; null where it did not. */
  readonly error: string | null;
  /** Null where it cannot be read. */
  readonly progress: P | null;
  /** Null: that of the system level, or it cannot be read. */
  readonly tenant: string | null;
}

/** One run of a task. */
export interface Job<P> {
  readonly id: string;
  readonly bucket: string;
  /** The owner's keys. Its signal is that of the job. */
  readonly caller: Caller;
  /** The last checkpoint, from which the work continues. */
  readonly progress: P;
  /** Aborts when the task is cancelled, and as {@link leaseSignal}. */
  readonly signal: AbortSignal;
  /**
   * Aborts when this process must no longer work on the task: it stops, or another process may have the lease. Work
   * that must not break off when the task is cancelled waits for this signal alone.
   */
  readonly leaseSignal: AbortSignal;
  /**
   * Reads from the object store when this process may: all its tasks and downloads of archives share its reads at a
   * time, fairly between tasks.
   *
   * @throws what `work` throws; the reason of {@link signal} if that aborts first
   */
  read<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Gives up the slot of a long task after a minute of work where others wait for one. Long work calls it often. Then the
   * reads that are under way count no longer, until it has a slot again.
   *
   * @returns whether it has waited
   * @throws the reason of {@link signal}; it may abort so that the task goes on from its last checkpoint
   */
  yieldTurn(): Promise<boolean>;
  /**
   * Records a progress from which the task can go on; it must not be changed afterwards. It is stored at most four times
   * a second.
   *
   * @param how `at once`: returns when it is stored. `partial`: a restart repeats the same work as without it, so it does
   *   not reset the retries of the store's errors
   * @throws when the job is interrupted. The progress is recorded all the same.
   */
  checkpoint(progress: P, how?: "at once" | "partial"): Promise<void>;
  /**
   * Reads blobs of the task, see {@link TaskStore}.
   *
   * @throws HttpError 410 for a fixed blob that was changed or is gone
   */
  readBlobs(names: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | null)[]>;
  /** Replaces blobs of the task, see {@link TaskStore}. */
  writeBlobs(blobs: Blobs): Promise<void>;
}

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
