import { storedSentence } from "./task_error.ts";

/**
 * What background tasks do: count keys, offer objects as a ZIP archive, delete, copy or move objects, or compare stored
 * bytes.
 */
export const TASK_KINDS = ["count", "zip", "delete", "transfer", "fixity"] as const;
export type TaskKind = (typeof TASK_KINDS)[number];
/** A notification on its way to one receiver is in such a store as well. */
export const STORED_KINDS = [...TASK_KINDS, "notification"] as const;
export type StoredKind = (typeof STORED_KINDS)[number];

/** `running` until it ends in one of the other states. A ZIP archive is `ready` once it can be downloaded. */
export type TaskState = "running" | "ready" | "failed" | "canceled";

/** How long an ended task can be read, ms (wire facts, Background tasks). */
export const ENDED_TTL_MS = 600_000;
/** After this long an unfinished task is failed, and its sealed keys are deleted, ms. */
export const MAX_RUN_MS = 24 * 3_600_000;
/** Why such a task failed. */
export const RAN_TOO_LONG: string = storedSentence({
  text: "The task was stopped after 24 hours: start it again for what is left",
  coded: { code: "task_over_24_hours" },
});
/** Most ended tasks of one owner that can be read; the oldest go. Archives that can be downloaded are not among them. */
export const MAX_ENDED_PER_OWNER = 100;
/** How long errors of the object store that may pass are waited out while only partial checkpoints lie between, ms. */
const RETRY_FOR_MS = 300_000;
const DAY_MS = 24 * 3_600_000;

/** How long the tasks of a kind live. */
export interface Lifetime {
  /** As {@link MAX_RUN_MS}. */
  readonly maxRunMs: number;
  /** As {@link RAN_TOO_LONG}. */
  readonly ranTooLong: string;
  /** As {@link ENDED_TTL_MS}. */
  readonly endedTtlMs: number;
  /** How long the blobs of an ended task can be read, ms. */
  readonly blobsTtlMs: number;
  /** As {@link MAX_ENDED_PER_OWNER}, of this kind alone where it is long. */
  readonly maxEndedPerOwner: number;
  /** How long errors of the object store that may pass are waited out, ms. */
  readonly retryForMs: number;
}

/** The kinds whose work takes days: their reports are read long after it. */
export const LONG_KIND: TaskKind = "fixity";

export const SHORT_LIFETIME: Lifetime = {
  maxRunMs: MAX_RUN_MS,
  ranTooLong: RAN_TOO_LONG,
  endedTtlMs: ENDED_TTL_MS,
  blobsTtlMs: ENDED_TTL_MS,
  maxEndedPerOwner: MAX_ENDED_PER_OWNER,
  retryForMs: RETRY_FOR_MS,
};

/**
 * Of a fixity task: 30 days for 100 TB at 40 MB/s. Its totals outlast a year, so that a yearly check finds the one
 * before; its rows take megabytes, and go after 30 days. A store may be away for a night.
 */
export const LONG_LIFETIME: Lifetime = {
  maxRunMs: 30 * DAY_MS,
  ranTooLong: storedSentence({
    text: "The task was stopped after 30 days: check the rest by smaller prefixes, or at a higher rate",
    coded: { code: "task_over_30_days" },
  }),
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
  /** What it works on and how far it is, as JSON, which some kinds seal; each kind has a schema of its own. */
  readonly progress: string;
  /** The keys with which it works, sealed; null once it has ended and does not need them. */
  readonly sealedCaller: Uint8Array | null;
  readonly createdAt: number;
  /** When its progress or its state was stored last. */
  readonly updatedAt: number;
  /** Null while it runs. */
  readonly endedAt: number | null;
}

/** A task that is about to be stored; it begins in the state `running`. */
export type NewTask = Pick<Task, "id" | "kind" | "owner" | "tenant" | "account" | "bucket" | "progress"> & {
  readonly sealedCaller: Uint8Array;
};

/** How a task ends. */
export interface TaskEnd {
  readonly state: Exclude<TaskState, "running">;
  readonly error: string | null;
  readonly progress: string;
  /** Whether its sealed keys are needed until it expires, as for the download of an archive. */
  readonly keepsCaller: boolean;
}

/** A task as administrators see it: nothing of what it works on. */
export type TaskSummary =
  & Pick<Task, "id" | "owner" | "tenant" | "account" | "bucket" | "state" | "isCanceling" | "createdAt">
  & {
    readonly kind: TaskKind;
    /** Whether a process works on it, or has it wait. */
    readonly isLeased: boolean;
  };
