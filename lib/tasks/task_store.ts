import type { NewTask, Task, TaskEnd, TaskSummary } from "./task.ts";

/** Most unfinished tasks, and unexpired archives: of one owner, of one tenant, and of all. */
export interface TaskBounds {
  readonly maxPerOwner: number;
  readonly maxPerTenant: number;
  readonly max: number;
}

/** What became of a new task: stored, there already under its id, or which bound is reached. */
export type Created = "created" | "exists" | "owner" | "tenant" | "all";

/**
 * What became of a change by a process that works on a task: `stored`; `canceling`, stored and its owner wants it to end;
 * `lost`, not stored, because another process has taken the task over or it is gone.
 */
export type Saved = "stored" | "canceling" | "lost";

/** Which tasks are listed. */
export type TaskSelection = Pick<Task, "owner" | "kind" | "bucket">;

/** Most tasks that are listed. */
export const MAX_LISTED = 100;

/**
 * Where tasks are stored, for one process or for several. A process works on a task only while it holds its lease: for
 * `LEASE_MS` after it created, claimed or saved it. Each change is atomic.
 *
 * Blobs are bytes of a task under a name, such as a chunk of its keys. They are deleted with the task, or before it as its
 * `Lifetime` says.
 *
 * All methods throw HttpError 503 with Retry-After while the store is not reachable.
 */
export interface TaskStore {
  /** Stores a task with its blobs, leased to its creator, unless there is one of its id or a bound is reached. */
  create(task: NewTask, holder: string, bounds: TaskBounds, blobs?: Blobs): Promise<Created>;
  /** The task of an id; null where there is none or it has ended and expired. */
  get(id: string): Promise<Task | null>;
  /** The tasks of an owner, kind and bucket that can be read, the newest first, at most {@link MAX_LISTED}. */
  list(selection: TaskSelection): Promise<Task[]>;
  /**
   * The tasks that count for the bounds, the oldest first.
   *
   * @param tenant in lower case; null: those of all tenants
   */
  summaries(tenant: string | null): Promise<TaskSummary[]>;
  /**
   * Leases up to `limit` running tasks whose lease has expired and which have not, the oldest first; in addition those
   * whose cancellation was requested, up to {@link MAX_LISTED}.
   *
   * @param owner of this owner alone when present
   * @param leaseMs {@link LEASE_MS} when absent
   */
  claim(holder: string, limit: number, owner?: string, leaseMs?: number): Promise<Task[]>;
  /** Stores the progress of a running task and renews its lease. Null renews the lease alone. */
  save(id: string, holder: string, progress: string | null): Promise<Saved>;
  /**
   * Ends a running task: it expires as its `Lifetime` says. Of its owner's ended tasks all but the last
   * are deleted: short and long kinds have a bound each.
   */
  end(id: string, holder: string, end: TaskEnd): Promise<Saved>;
  /** Releases a running task until so many ms from now, with its new progress; null: with the one that is stored. */
  postpone(id: string, holder: string, progress: string | null, ms: number): Promise<void>;
  /** Releases the leases of a process that stops, so that another one takes its tasks over at once. */
  release(holder: string): Promise<void>;
  /** Requests the cancellation of a running task. An archive that is ready can no longer be downloaded. */
  cancel(id: string): Promise<void>;
  /** Lets an archive live for `ENDED_TTL_MS` from now, but not longer than `MAX_RUN_MS` after it was created. */
  prolong(id: string): Promise<void>;
  /** Replaces blobs of a task; does nothing when there is no such task. */
  writeBlobs(id: string, blobs: Blobs): Promise<void>;
  /** Blobs of a task in the order of their names; null for each that it does not have. */
  readBlobs(id: string, names: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | null)[]>;
  /** A small text that the processes share, which is no task's; null for none. */
  readNote(name: string): Promise<string | null>;
  /** Stores such a text in the place of another. @param before null: of none @returns false where it is another one */
  replaceNote(name: string, before: string | null, after: string): Promise<boolean>;
  /** Deletes expired tasks and blobs, and fails tasks that ran for too long. Called at intervals. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Bytes by name. */
export type Blobs = ReadonlyMap<string, Uint8Array>;
