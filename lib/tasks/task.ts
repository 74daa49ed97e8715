import { type Coded, codedSentence, type CodedText } from "@/lib/std/coded.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";

/**
 * Background tasks: count keys, offer objects as a ZIP archive, delete, copy or move objects, or compare stored bytes.
 */
export const TASK_KINDS = ["count", "zip", "delete", "transfer", "fixity"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
/** A notification on its way to one receiver is in such a store as well. */
export const STORED_KINDS = [...TASK_KINDS, "notification"] as const;
type StoredKind = (typeof STORED_KINDS)[number];

/** `running` until it ends in one of the other states. A ZIP archive is `ready` once it can be downloaded. */
type TaskState = "running" | "ready" | "failed" | "canceled";

/** Separates a stored sentence from its code, which is JSON. */
const CODE_MARK = "\u001f";

/** A sentence with its code as one text, as stores of tasks have it. */
export function storedSentence({ text, coded }: CodedText): string {
  return coded === null ? text : `${text}${CODE_MARK}${JSON.stringify(coded)}`;
}

/** Reads a text of {@linkcode storedSentence}. One of another version has no code. */
export function readSentence(stored: string): CodedText {
  const mark = stored.lastIndexOf(CODE_MARK);
  const coded = mark < 0 ? undefined : parsedJson(stored.slice(mark + 1));
  if (stringAt(coded, "code") === null) return { text: stored, coded: null };
  return { text: stored.slice(0, mark), coded: coded as Coded };
}

const DAY_MS = 24 * 3_600_000;

/** How long the tasks of a kind live. */
export interface Lifetime {
  /** An unfinished task fails after this time, and its sealed keys are deleted, ms. */
  readonly maxRunMs: number;
  /** Why such a task failed, as `readSentence` reads it. */
  readonly ranTooLong: string;
  /** How long an ended task can be read, ms. */
  readonly endedTtlMs: number;
  /** How long the blobs of an ended task can be read, ms. */
  readonly blobsTtlMs: number;
  /**
   * Maximum of ended tasks of one owner; the oldest are deleted. Kinds without a lifetime in {@link LIFETIMES} share it, and
   * archives that can be downloaded do not count.
   */
  readonly maxEndedPerOwner: number;
  /** How long a task retries transient errors of the object store without progress, ms. */
  readonly retryForMs: number;
}

/** The kinds whose work takes days: their reports are read long after it. */
export const LONG_KIND: TaskKind = "fixity";

/** The lifetime of most kinds (wire facts, Background tasks). */
export const SHORT_LIFETIME: Lifetime = {
  maxRunMs: DAY_MS,
  ranTooLong: storedSentence(codedSentence("task_over_24_hours")),
  endedTtlMs: 600_000,
  blobsTtlMs: 600_000,
  maxEndedPerOwner: 100,
  retryForMs: 300_000,
};

/**
 * Fixity tasks run for up to 30 days: 100 TB at 40 MB/s. The totals outlast a year, so that a yearly check finds the one
 * before; its rows take megabytes, and go after 30 days. A store may be away for a night.
 */
export const LONG_LIFETIME: Lifetime = {
  maxRunMs: 30 * DAY_MS,
  ranTooLong: storedSentence(codedSentence("task_over_30_days")),
  endedTtlMs: 400 * DAY_MS,
  blobsTtlMs: 30 * DAY_MS,
  maxEndedPerOwner: 20,
  retryForMs: 12 * 3_600_000,
};

/** A notification is tried for a day; its id is known for 30 days, so that nothing is sent twice. */
const NOTIFICATION_LIFETIME: Lifetime = {
  maxRunMs: 3 * DAY_MS,
  ranTooLong: "",
  endedTtlMs: 30 * DAY_MS,
  blobsTtlMs: 0,
  maxEndedPerOwner: 10_000,
  retryForMs: 0,
};

/** The kinds that live otherwise than {@link SHORT_LIFETIME}. */
export const LIFETIMES: ReadonlyMap<string, Lifetime> = new Map<StoredKind, Lifetime>([
  [LONG_KIND, LONG_LIFETIME],
  ["notification", NOTIFICATION_LIFETIME],
]);

/** How long tasks of a kind live; kinds of other versions are short. */
export function lifetimeOf(kind: string): Lifetime {
  return LIFETIMES.get(kind) ?? SHORT_LIFETIME;
}

/** How long a process may work on a task without renewing its lease, ms. After that another process takes it over. */
export const LEASE_MS = 20_000;
/** How often a process renews its leases and looks for tasks whose lease has expired, ms. */
export const RENEW_MS = 5000;

/** A background task as the store has it. All times are ms since 1970 by the clock of the store. */
export interface Task {
  /** UUID version 4. */
  readonly id: string;
  readonly kind: StoredKind;
  /** Equal for equal credentials, see {@link ownerOf}; reveals nothing about them. */
  readonly owner: string;
  /** In lower case; null where the store has no tenants, or an earlier version created the task. */
  readonly tenant: string | null;
  /** The account whose name the store has proven; null where it proves none. */
  readonly account: string | null;
  readonly bucket: string;
  readonly state: TaskState;
  /** Whether its cancellation was requested and it still runs. */
  readonly isCanceling: boolean;
  /** Why it failed, as a sentence for its owner that `readSentence` reads; null unless it did. */
  readonly error: string | null;
  /** Input and progress as JSON by the schema of the kind; some kinds seal it. */
  readonly progress: string;
  /** The keys with which it works, sealed; null once it has ended and does not need them. */
  readonly sealedCaller: Uint8Array | null;
  readonly createdAt: number;
  /** When its progress or its state was stored last. */
  readonly updatedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
}

/** A task to store. Its initial state is `running`. */
export type NewTask = Pick<Task, "id" | "kind" | "owner" | "tenant" | "account" | "bucket" | "progress"> & {
  readonly sealedCaller: Uint8Array;
};

/** How a task ends. */
export interface TaskEnd {
  readonly state: Exclude<TaskState, "running">;
  readonly error: string | null;
  readonly progress: string;
  /** Whether its sealed keys are needed until it expires, as for the download of an archive; false when absent. */
  readonly keepsCaller?: boolean;
}

/** A task as administrators see it: nothing of what it works on. */
export type TaskSummary =
  & Pick<Task, "id" | "owner" | "tenant" | "account" | "bucket" | "state" | "isCanceling" | "createdAt">
  & {
    readonly kind: TaskKind;
    /** Whether a process works on it, or has it wait. */
    readonly isLeased: boolean;
  };

/** Most unfinished tasks, and unexpired archives: of one owner, of one tenant, and of all. */
export interface TaskBounds {
  readonly maxPerOwner: number;
  readonly maxPerTenant: number;
  readonly max: number;
}

/** The result of creating a task: stored, present already under its id, or the bound that is reached. */
export type Created = "created" | "exists" | "owner" | "tenant" | "all";

/**
 * The result of a change by a process that works on a task: `stored`; `canceling`, stored and its owner wants it to end;
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
  /** Extends an archive to `endedTtlMs` from now, but to no more than `maxRunMs` after it was created. */
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
