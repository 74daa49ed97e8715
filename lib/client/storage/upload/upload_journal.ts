import type { ObjectName, SentPart } from "./upload_calls.ts";

/** What is remembered of a file, so that it need not be sent again after the page was reloaded. */
export interface FileRecord extends ObjectName {
  /** The folder of the upload that it belongs to. */
  readonly prefix: string;
  /** Bytes and ms since 1970: with the name, what tells that a file is the same. */
  readonly size: number;
  readonly modified: number;
  /**
   * The upload in parts; null for a file that is whole in the store, or whose one request began while no object had its
   * key: then an object of the same size is the file, although the page was left before the response.
   */
  readonly upload: UploadRecord | null;
}

/** An upload in parts that was begun. */
export interface UploadRecord {
  readonly uploadId: string;
  readonly hasChecksums: boolean;
}

/** An upload of files to a folder, which has not ended. */
export interface BatchRecord {
  readonly bucket: string;
  readonly prefix: string;
  /** ms since 1970 */
  readonly startedAt: number;
  readonly files: number;
  readonly bytes: number;
  /** Files and folders that were dropped, where the browser can read them again. */
  readonly handles: readonly FileSystemHandle[];
}

/** The memory of uploads of one login, which outlives the page. Where it fails, uploads go on without it. */
export interface UploadJournal {
  /** Files of which everything below a folder is remembered. */
  files(bucket: string, prefix: string): Promise<readonly FileRecord[]>;
  putFile(record: FileRecord): Promise<void>;
  parts(uploadId: string): Promise<ReadonlyMap<number, SentPart>>;
  putPart(uploadId: string, number: number, part: SentPart): Promise<void>;
  /** Forgets a file, and the parts of its upload. */
  forget(name: ObjectName): Promise<void>;
  batches(): Promise<readonly BatchRecord[]>;
  putBatch(record: BatchRecord): Promise<void>;
  /**
   * Forgets files of an upload to a folder, and the upload itself once no other file of it is remembered. It returns once
   * another page finds none of them.
   *
   * @param keys null: all of its files
   */
  forgetBatch(bucket: string, prefix: string, keys: ReadonlySet<string> | null): Promise<void>;
}
