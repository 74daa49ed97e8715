import type { SentPart } from "./upload_calls_client.ts";

/** The folder that files are uploaded to. */
export interface UploadFolder {
  readonly bucket: string;
  /** "" or with a slash at its end. */
  readonly prefix: string;
}

/** A recorded file, which need not be sent again after the page was reloaded, and the folder of its upload. */
export interface FileRecord extends UploadFolder {
  readonly key: string;
  /** Bytes and ms since 1970: with the name, they tell whether a file is the same. */
  readonly size: number;
  readonly modified: number;
  /**
   * The upload in parts; null for a file that is whole in the store, or whose one request was sent while no object had its
   * key: then an object of the same size is the file, although the page was left before the response.
   */
  readonly upload: UploadRecord | null;
}

/** An upload in parts. */
export interface UploadRecord {
  readonly uploadId: string;
  readonly hasChecksums: boolean;
}

/** An upload of files to a folder, which has not ended. */
export interface BatchRecord extends UploadFolder {
  /** ms since 1970 */
  readonly startedAt: number;
  readonly files: number;
  readonly bytes: number;
  /** Files and folders that were dropped, where the browser can read them again. */
  readonly handles: readonly FileSystemHandle[];
}

/** A journal of uploads. Where it fails, uploads go on without it. */
export type UploadJournal = Pick<BrowserJournal, keyof BrowserJournal>;

const DATABASE = "stackroom-uploads";
const VERSION = 1;
const [FILES, PARTS, BATCHES] = ["files", "parts", "batches"] as const;
/** Sorts after every text. */
const LAST = "\uffff";
/** Older uploads are forgotten, ms. Stores end uploads in parts themselves after some days, where they are set up to. */
const MOST_AGE_MS = 14 * 24 * 3600 * 1000;

type Write = (stores: Record<typeof FILES | typeof PARTS | typeof BATCHES, IDBObjectStore>) => void;

/**
 * The records of an account's uploads in the browser's IndexedDB. Writes are collected into transactions, and callers do not
 * wait for them except at the end of an upload, so that they do not slow thousands of small files. Without IndexedDB
 * nothing is recorded.
 */
export class BrowserJournal {
  readonly #database: Promise<IDBDatabase | null>;
  #writes: Write[] = [];
  #writing: Promise<void> = Promise.resolve();

  /** @param account the owner of the uploads; others do not see them */
  constructor(private readonly account: string) {
    this.#database = openDatabase();
  }

  /** The recorded files below a folder. */
  async files(bucket: string, prefix: string): Promise<readonly FileRecord[]> {
    const range = this.#below(bucket, prefix);
    return await this.#read<FileRecord[]>(FILES, (store) => store.getAll(range)) ?? [];
  }

  putFile(record: FileRecord): Promise<void> {
    return this.#write(({ files }) => files.put(record, this.#key(record.bucket, record.key)));
  }

  async parts(uploadId: string): Promise<ReadonlyMap<number, SentPart>> {
    const range = IDBKeyRange.bound([uploadId, 0], [uploadId, Infinity]);
    const found = await this.#read<readonly [number, SentPart][]>(PARTS, (store) => store.getAll(range)) ?? [];
    return new Map(found);
  }

  putPart(uploadId: string, number: number, part: SentPart): Promise<void> {
    return this.#write(({ parts }) => parts.put([number, part], [uploadId, number]));
  }

  /** Forgets a file, and the parts of its upload. */
  async forget({ bucket, key }: Pick<FileRecord, "bucket" | "key">): Promise<void> {
    const record = await this.#read<FileRecord>(FILES, (store) => store.get(this.#key(bucket, key)));
    await this.#write((stores) => {
      stores.files.delete(this.#key(bucket, key));
      if (record?.upload) forgetParts(stores.parts, record.upload.uploadId);
    });
  }

  async batches(): Promise<readonly BatchRecord[]> {
    const range = IDBKeyRange.bound([this.account], [this.account, LAST]);
    const found = await this.#read<BatchRecord[]>(BATCHES, (store) => store.getAll(range)) ?? [];
    const since = Date.now() - MOST_AGE_MS;
    const [young, old] = [true, false].map((isYoung) => found.filter(({ startedAt }) => startedAt > since === isYoung));
    for (const { bucket, prefix } of old) await this.forgetBatch(bucket, prefix, null);
    return young;
  }

  putBatch(record: BatchRecord): Promise<void> {
    return this.#write(({ batches }) => batches.put(record, this.#key(record.bucket, record.prefix)));
  }

  /**
   * Forgets files of an upload to a folder, and the upload itself once no other file of it is remembered. It returns once
   * another page finds none of them.
   *
   * @param keys null: all of its files
   */
  async forgetBatch(bucket: string, prefix: string, keys: ReadonlySet<string> | null): Promise<void> {
    await this.#write((stores) => {
      const reading: IDBRequest<FileRecord[]> = stores.files.getAll(this.#below(bucket, prefix));
      // In the same transaction, so that no record that another tab adds meanwhile is deleted.
      reading.onsuccess = () => {
        const below = reading.result;
        const own = below.filter((record) => record.prefix === prefix);
        const over = keys === null ? own : own.filter(({ key }) => keys.has(key));
        // One request in place of thousands, where nothing else is remembered there.
        if (over.length === below.length) stores.files.delete(this.#below(bucket, prefix));
        for (const { key, upload } of over) {
          if (over.length < below.length) stores.files.delete(this.#key(bucket, key));
          if (upload) forgetParts(stores.parts, upload.uploadId);
        }
        if (over.length === own.length) stores.batches.delete(this.#key(bucket, prefix));
      };
    });
    // Only then may a page say that the upload has ended.
    await this.#writing;
  }

  #key(bucket: string, key: string): [string, string, string] {
    return [this.account, bucket, key];
  }

  #below(bucket: string, prefix: string): IDBKeyRange {
    return IDBKeyRange.bound(this.#key(bucket, prefix), this.#key(bucket, prefix + LAST));
  }

  /** Reads after all pending writes; null where it cannot. */
  async #read<Result>(name: string, request: (store: IDBObjectStore) => IDBRequest): Promise<Result | null> {
    await this.#writing;
    const database = await this.#database;
    if (!database) return null;
    return await new Promise<Result | null>((resolve, reject) => {
      // It throws where the browser has closed the database.
      const asked = request(database.transaction(name).objectStore(name));
      asked.onsuccess = () => resolve(asked.result ?? null);
      asked.onerror = reject;
    }).catch(() => null);
  }

  #write(write: Write): Promise<void> {
    this.#writes.push(write);
    if (this.#writes.length === 1) this.#writing = this.#writing.then(() => this.#flush());
    return Promise.resolve();
  }

  async #flush(): Promise<void> {
    const database = await this.#database;
    const writes = this.#writes.splice(0);
    if (!database || writes.length === 0) return;
    await new Promise<void>((resolve) => {
      // It throws where the browser has closed the database.
      const transaction = database.transaction([FILES, PARTS, BATCHES], "readwrite");
      transaction.oncomplete = transaction.onabort = transaction.onerror = () => resolve();
      const [files, parts, batches] = [FILES, PARTS, BATCHES].map((name) => transaction.objectStore(name));
      for (const write of writes) {
        try {
          write({ files, parts, batches });
        } catch {
          // The upload continues without a record that cannot be stored.
        }
      }
    }).catch(() => {});
  }
}

function forgetParts(parts: IDBObjectStore, uploadId: string): void {
  parts.delete(IDBKeyRange.bound([uploadId, 0], [uploadId, Infinity]));
}

/** @returns null where the browser has no IndexedDB, as in some private windows */
function openDatabase(): Promise<IDBDatabase | null> {
  return new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () => {
      for (const name of [FILES, PARTS, BATCHES]) request.result.createObjectStore(name);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = request.onblocked = reject;
  }).catch(() => null);
}
