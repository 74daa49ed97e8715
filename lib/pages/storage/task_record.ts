/** A folder of a bucket: where objects come from, or go to. */
export interface Place {
  readonly bucket: string;
  /** "" or a text that ends in a slash. */
  readonly prefix: string;
}

/** Objects and folders of a folder, by keys and prefixes. */
export interface Chosen {
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
}

interface Planned extends Chosen {
  /** The folder from which it was started. */
  readonly place: Place;
  /** The name of the first row that it is about, and the number of rows. */
  readonly name: string;
  readonly rows: number;
}

/** An archive of objects. */
interface ZipPlan extends Planned {
  readonly kind: "zip";
}

interface DeletePlan extends Planned {
  readonly kind: "delete";
  /** Whether the bucket keeps versions, so that what is deleted can come back. */
  readonly canUndo: boolean;
}

/** A move or a copy: what keys begin with is replaced. */
interface TransferPlan extends Planned {
  readonly kind: "move" | "copy";
  readonly from: string;
  /** The prefix is a folder, or for a new name the whole key. */
  readonly to: Place;
  /** Whether the names in the new place were chosen for it. */
  readonly isRename: boolean;
}

/** Brings back what was deleted. */
interface UndoPlan extends Planned {
  readonly kind: "undo";
}

export type TaskPlan = ZipPlan | DeletePlan | TransferPlan | UndoPlan;

/** What happens to an object whose new name is in use: `keep` gives it a number in its name. */
export type OnTaken = "skip" | "keep" | "replace";

/** An object that a task could not treat. */
export interface TaskFault {
  readonly key: string;
  /** Of the gateway; 0: the store's own message says why. */
  readonly status: number;
  readonly message: string;
}

/** How a task ended. `gone`: the gateway no longer knows it; `failed`: the status, 0 where it has none, says why. */
export type TaskEnd =
  | { readonly how: "done" | "canceled" | "gone" }
  | { readonly how: "failed"; readonly status: number; readonly message: string };

/** How far a task is. */
export interface TaskState {
  /** Of the gateway; null: it is not started yet, or could not be. */
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
  /** Bytes of the archive; 0: not known. */
  readonly bytes: number;
  /** The address of the archive; null: it is not ready. */
  readonly download: string | null;
  readonly isCanceling: boolean;
  /** ms since 1970, by the clock of the gateway; null: not known. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null: it goes on. */
  readonly end: TaskEnd | null;
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
  bytes: 0,
  download: null,
  isCanceling: false,
  startedAt: null,
  endedAt: null,
  end: null,
};
