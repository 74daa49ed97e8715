import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** The words of changes of the storage and of the tasks that perform them. */
export const LABELS = {
  tasks: "Tasks",
  running: (count: number) => counted(count, "task running", "tasks running"),
  failed: (count: number) => counted(count, "task failed", "tasks failed"),
  done: (count: number) => counted(count, "task done", "tasks done"),
  fold: "Fold uploads and tasks",
  unfold: "Unfold uploads and tasks",
  newFolder: "New folder",
  rename: "Rename",
  move: "Move",
  copy: "Copy",
  delete: "Delete",
  zip: "Download ZIP",
  create: "Create",
  name: "Name",
  newName: "New name",
  cancel: "Cancel",
  undo: "Undo",
  saveAgain: "Download again",
  dismiss: "Remove from the list",
  dismissFinished: "Clear the finished ones",
  bucket: "Bucket",
  folder: "Folder",
  folderHint: "empty: the bucket itself",
  foldersThere: "Folders there",
  upwards: "One folder up",
  onTaken: "If a name is already in use",
  notDone: "Not done",
  moveHere: (place: string) => `Move to ${place}`,
  copyHere: (place: string) => `Copy to ${place}`,
  deleteCount: (count: number) => `Delete ${counted(count, "object", "objects")}`,
  renameOf: (name: string) => `Rename “${name}”`,
  moveOf: (names: string) => `Move ${names}`,
  copyOf: (names: string) => `Copy ${names}`,
  deleteOf: (names: string) => `Delete ${names}?`,
  one: (name: string) => `“${name}”`,
  several: (name: string, others: number) => `“${name}” and ${formatCount(others)} more`,
};

/** What may happen to an object whose new name is in use. */
export const ON_TAKEN = {
  skip: "Leave the object that is there",
  keep: "Keep both: the new one gets a number in its name",
  replace: "Replace the object that is there",
};

/** What a task is about, as its heading. */
export const TITLES = {
  zip: (names: string) => `ZIP of ${names}`,
  delete: (names: string) => `Delete ${names}`,
  rename: (names: string, name: string) => `Rename ${names} to “${name}”`,
  move: (names: string, place: string) => `Move ${names} to ${place}`,
  copy: (names: string, place: string) => `Copy ${names} to ${place}`,
  undo: (names: string) => `Bring back ${names}`,
};

/** How far a task is. */
export const PROGRESS = {
  begins: "Starting…",
  zip: (done: number, total: number) => `${formatCount(done)} of ${counted(total, "object", "objects")} looked up`,
  counting: (total: number) => `Counting: ${counted(total, "object", "objects")} so far`,
  delete: (done: number, total: number) => `${formatCount(done)} of ${formatCount(total)} deleted`,
  move: (done: number, total: number, deleted: number) =>
    `copied ${formatCount(done)} of ${formatCount(total)}, ${formatCount(deleted)} deleted`,
  copy: (done: number, total: number) => `copied ${formatCount(done)} of ${formatCount(total)}`,
  undo: (done: number, total: number) => `${formatCount(done)} of ${formatCount(total)} brought back`,
  canceling: "Cancelling: finishing what is in progress…",
  away: "No connection to the server; the task continues automatically",
};

/** How a task ended. */
export const ENDS = {
  zip: (objects: number, bytes: string) =>
    `The archive of ${counted(objects, "object", "objects")} (${bytes}) is ready; the browser saves it.`,
  zipMissing: (missing: number) =>
    `${counted(missing, "object", "objects")} could not be read; the archive lists them in _errors.txt.`,
  delete: (done: number) => `${counted(done, "object", "objects")} deleted.`,
  rename: "Renamed.",
  move: (done: number) => `${counted(done, "object", "objects")} moved.`,
  copy: (done: number) => `${counted(done, "object", "objects")} copied.`,
  undo: (done: number) => `${counted(done, "object", "objects")} brought back.`,
  renamed: (count: number) => `${counted(count, "object", "objects")} got a number in the name, which was in use.`,
  skipped: (count: number) => `${counted(count, "object", "objects")} left, since the new name is in use.`,
  failed: (count: number) => `${counted(count, "object", "objects")} failed.`,
  canceled: (progress: string) => `Cancelled: ${progress}.`,
  gone:
    "The server no longer knows this task: it ended a while ago, or the server was restarted. The folder shows what is done.",
  listed: (count: number) => `The first ${formatCount(count)} of them:`,
};

/** Why something was not changed, by the status of the response. */
export const REASONS = {
  401: "The login has ended. Log in again, then try again.",
  403: "This account may not do that in this bucket. The owner of the bucket can allow it.",
  404: "It no longer exists, or its bucket does not.",
  409: "The store does not allow this now, for example because of a hold or a retention.",
  412: "It was changed meanwhile. The newer object is still in its old place.",
  507: "The bucket has no room left: its quota is used up.",
};

/** Other reasons why something was not changed. */
export const NOT_DONE = {
  tooManyTasks: "Too many tasks are running. Try again when one of them has ended.",
  tooManyChosen: "A task takes at most 1,000 folders and 100,000 objects of a selection. Choose fewer.",
  tooMany: "An archive holds at most 50,000 objects. Choose fewer.",
  other: (status: number) => `The store could not do this (it answered ${status}).`,
  said: (message: string) => `The store says: ${message}`,
};

/** What the dialogs say before something changes. */
export const QUESTIONS = {
  counting: (count: number) => `Counting… ${formatCount(count)} so far`,
  counted: (count: number, bytes: string) => `${counted(count, "object", "objects")}, ${bytes} in all`,
  notCounted: "The number of objects in the folders is not known.",
  others: (count: number) => `and ${formatCount(count)} more`,
  canUndo: "The bucket keeps versions: this can be undone.",
  cannotUndo: "The bucket keeps no versions: this cannot be undone.",
  undoUnknown: "It is not known whether the bucket keeps versions, so this may be final.",
  copies:
    "A store cannot rename: each object is copied, then the old one is deleted. Older versions stay under the old name.",
  folderAppears: "A folder is an empty object whose name ends in a slash.",
  inUse: (name: string) => `“${name}” already exists. Choose another name.`,
};

/** Why a name or a place cannot be. */
export const NAME_PROBLEMS = {
  empty: "Type a name.",
  slash: "A name cannot contain a slash.",
  "too long": "With its folders the name would be longer than 1,024 bytes. Choose a shorter one.",
  "half a character": "The name is not valid Unicode. Type it again.",
};

/** The words of the page of the server's tasks. */
export const ACTIVE_TASKS = {
  LABELS: {
    title: "Tasks of the server",
    kind: "Task",
    state: "State",
    account: "Account",
    bucket: "Bucket",
    started: "Started",
    unknown: "unknown",
    cancel: "Cancel",
    /** The button of a row, for readers of screens. */
    cancelOf: (kind: string, account: string, bucket: string) => `Cancel: ${kind}, ${account}, ${bucket}`,
  },

  KINDS: {
    count: "Count of objects",
    zip: "ZIP archive",
    delete: "Deletion",
    transfer: "Move, copy or undo",
    fixity: "Fixity check",
  },

  STATES: {
    running: "running or waiting",
    canceling: "being cancelled",
    ready: "can be downloaded",
  },

  SENTENCES: {
    own: "Your unfinished tasks, and your archives that can be downloaded.",
    tenant: "The unfinished tasks of all accounts of this tenant, and the archives that can be downloaded. " +
      "What they work on is not shown.",
    all:
      "The unfinished tasks of all tenants, and the archives that can be downloaded. What they work on is not shown.",
    none: "No task is running or waiting.",
    shown: (shown: number, all: number) => `The oldest ${shown} of ${counted(all, "task", "tasks")}.`,
    canceled: "The task was cancelled. It ends within a few seconds.",
    gone: "The task has ended already, or is not yours.",
  },
};
