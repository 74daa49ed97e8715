import type { PartPlan } from "@/lib/presentation/storage/upload_plan.ts";
import type { ObjectName, SentPart } from "./upload_calls.ts";
import type { UploadFault } from "./upload_fault.ts";
import type { UploadRecord } from "./upload_journal.ts";

/** What happens to a file. */
export type UploadState =
  /** Its name is looked up. */
  | "looking"
  | "waiting"
  | "sending"
  /** The store puts its parts together. */
  | "finishing"
  | "paused"
  /** An object has its name, and the answer is open. */
  | "taken"
  | "failed"
  | "done"
  | "skipped"
  | "cancelled";

/** What happens to files whose name is in use. */
export type NameAnswer = "replace" | "keep both" | "skip";

/** Files that were chosen together. */
export interface UploadBatch {
  readonly bucket: string;
  /** The folder that they go to: "" or with a slash at its end. */
  readonly prefix: string;
  /** What was answered for the first name in use, and holds for all. */
  answer: NameAnswer | null;
  /** Names that were found in use. */
  readonly taken: Set<string>;
  /** Keys that this page may have recorded for it. */
  readonly keys: Set<string>;
  /** Files that can be sent and are not done, skipped or cancelled. */
  open: number;
}

/** An upload in parts under way. */
export interface UploadInParts extends UploadRecord {
  readonly plan: PartPlan;
  /** What the store has. */
  readonly parts: Map<number, SentPart>;
}

/** A file on its way. The engine alone writes it. */
export interface UploadItem {
  readonly id: number;
  /** With the folders that were chosen, `scans/1.tif`. */
  readonly path: string;
  readonly file: File;
  /** Bytes, and ms since 1970: the properties of a file make the browser look at the disk, each time. */
  readonly size: number;
  readonly modified: number;
  readonly batch: UploadBatch;
  key: string;
  /** Whether a listing has shown that no object has the key. */
  isFree: boolean;
  state: UploadState;
  /** Bytes that have left, those of parts under way included. */
  sent: number;
  /** Why it failed, else null. */
  fault: UploadFault | "too large" | "name too long" | "half a character" | null;
  /** It was in the store before, by an upload that the page remembers. */
  wasThere: boolean;
  /** Not where an object has the name by then. */
  ifAbsent: boolean;
  /** An upload of the same file that an earlier page began. */
  earlier: UploadRecord | null;
  upload: UploadInParts | null;
  /** Parts to be sent, and the bytes of those under way. */
  pending: number[];
  readonly flight: Map<number, number>;
  /** Uploads that were ended elsewhere. */
  restarts: number;
  /** The journal has it as a whole file since its key was found free and its request began. */
  isRecorded: boolean;
  /** A request of which the response was lost may have written the object. */
  mayBeWritten: boolean;
  /** Ends its requests; null while it has none. */
  control: AbortController | null;
}

/** The object that a file becomes. */
export function nameOf({ batch, key }: UploadItem): ObjectName {
  return { bucket: batch.bucket, key };
}
