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
  /** The name of the first row, and the number of rows. */
  readonly name: string;
  readonly rows: number;
}

/** An archive of objects, the undo of a deletion, a deletion, or a move or copy. */
export type TaskPlan =
  & Planned
  & (
    | { readonly kind: "zip" | "undo" }
    | {
      readonly kind: "delete";
      /** Whether the bucket has versioning, so that deleted objects can be brought back. */
      readonly canUndo: boolean;
    }
    | {
      readonly kind: "move" | "copy";
      /** The prefix of keys that is replaced. */
      readonly from: string;
      /** The prefix is a folder, or for a new name the whole key. */
      readonly to: Place;
      /** Whether the names in the new place were chosen for it. */
      readonly isRename: boolean;
    }
  );

/** The action for an object whose new name is in use: `keep` adds a number to its name. */
export type OnTaken = "skip" | "keep" | "replace";

/** An object for which a task failed. */
export interface TaskFault {
  readonly key: string;
  /** The gateway's status; 0: the store's own message gives the reason. */
  readonly status: number;
  readonly message: string;
}

/** How a task ended. `gone`: the gateway no longer knows it; `failed`: with the status, 0 where there is none. */
export type TaskEnd =
  | { readonly how: "done" | "canceled" | "gone" }
  | { readonly how: "failed"; readonly status: number; readonly message: string };

/** How far a task is. */
export interface TaskState {
  /** Null: it is not started yet, or could not be. */
  readonly taskId: string | null;
  /** Number of objects; null: not known. */
  readonly total: number | null;
  /** Objects that were looked up, deleted, copied or brought back. */
  readonly done: number;
  /** Copied objects whose source is deleted. */
  readonly deleted: number;
  readonly skipped: number;
  /** Copied objects that got a number in their name. */
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
  /** Null while it runs. */
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
