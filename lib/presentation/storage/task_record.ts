import type { Place, TransferStep } from "./transfer_plan.ts";

/** Objects and folders of a folder, by keys and prefixes. */
export interface Chosen {
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
}

interface Planned {
  /** The folder from which it was started. */
  readonly place: Place;
  /** The name of the first row that it is about, and the number of rows. */
  readonly name: string;
  readonly rows: number;
}

/** An archive of objects, which the gateway prepares. */
export interface ZipPlan extends Planned, Chosen {
  readonly kind: "zip";
}

/** A deletion, which the gateway performs. */
export interface DeletePlan extends Planned, Chosen {
  readonly kind: "delete";
  /** Whether the bucket keeps versions, so that what is deleted can come back. */
  readonly canUndo: boolean;
}

/** What happens to an object whose new name is in use: `keep both` gives it a number in its name. */
export type OnTaken = "skip" | "keep both" | "replace";

/** A move or a copy, which this page performs object by object. */
export interface TransferTaskPlan extends Planned {
  readonly kind: "move" | "copy";
  readonly to: Place;
  /** Whether the names in the new place were chosen for it. */
  readonly isRename: boolean;
  readonly steps: readonly TransferStep[];
  readonly onTaken: OnTaken;
  /** Number of objects; null: not counted. */
  readonly objects: number | null;
}

/** Brings back what was deleted between two moments: removes the delete markers. */
export interface UndoPlan extends Planned, Chosen {
  readonly kind: "undo";
  /** ms since 1970, by the clock of the gateway */
  readonly since: number;
  readonly until: number;
  /** Number of objects that were deleted. */
  readonly objects: number;
}

export type TaskPlan = ZipPlan | DeletePlan | TransferTaskPlan | UndoPlan;

/** What stands in front of the versions of a deleted object. */
export interface DeleteMarker {
  readonly key: string;
  readonly version: string;
}

/** An object that a task could not treat. */
export interface TaskFault {
  readonly key: string;
  /** Of the gateway; 0: the store's own message says why. */
  readonly status: number;
  readonly message: string;
}

/**
 * How a task ended. `stopped`: it can go on, the status says why it did not; `gone`: the gateway no longer knows it;
 * `failed`: for good.
 */
export type TaskEnd =
  | { readonly how: "done" | "canceled" | "gone" }
  | { readonly how: "stopped"; readonly status: number }
  | { readonly how: "failed"; readonly status: number; readonly message: string };

/** In place of a status: the page was older than the server, and lacked the code of the task. */
export const OUTDATED = -1;

/** How far a task is. */
export interface TaskState {
  /** Of the gateway's own task; null: none was started. */
  readonly taskId: string | null;
  /** Number of objects; null: not known. */
  readonly total: number | null;
  /** Objects that were looked up, deleted, copied or brought back. */
  readonly done: number;
  /** Of a move: copied objects whose source is deleted. */
  readonly deleted: number;
  readonly skipped: number;
  /** Of a move or a copy: objects that got a number in their name. */
  readonly renamed: number;
  readonly failed: number;
  /** The first that failed. */
  readonly faults: readonly TaskFault[];
  /** Of an undo: delete markers that are being removed. Each is counted once, whatever request was the last of a page. */
  readonly pending: readonly DeleteMarker[];
  /** Bytes of the archive; 0: not known. */
  readonly bytes: number;
  /** The address of the archive; null: it is not ready. */
  readonly download: string | null;
  /** Where it goes on: the number of the step, and the last key below its prefix. */
  readonly step: number;
  readonly after: string;
  readonly isCanceling: boolean;
  /** ms since 1970, by the clock of the gateway; null: not known. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null: it goes on. */
  readonly end: TaskEnd | null;
}

/** Whether a task needs nothing more: one that was stopped can go on. */
export function isFinished({ end }: Pick<TaskState, "end">): boolean {
  return end !== null && end.how !== "stopped";
}

export const NEW_TASK: TaskState = {
  taskId: null,
  total: null,
  done: 0,
  deleted: 0,
  skipped: 0,
  renamed: 0,
  failed: 0,
  faults: [],
  pending: [],
  bytes: 0,
  download: null,
  step: 0,
  after: "",
  isCanceling: false,
  startedAt: null,
  endedAt: null,
  end: null,
};
