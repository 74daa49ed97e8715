import type { ObjectName, SentPart } from "./upload_calls_client.ts";

/** A remembered file, which need not be sent again after the page was reloaded. */
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
 * The memory of an account's uploads in the browser's IndexedDB. Writes are gathered into transactions and, but for the
 * end of an upload, are not waited for, so that thousands of small files are not slowed by it. Where a browser has no
 * such memory, nothing is remembered.
 */
export class BrowserJournal {
  readonly #account: string;
  readonly #database: Promise<IDBDatabase | null>;
  #writes: Write[] = [];
  #writing: Promise<void> = Promise.resolve();

  /** @param account whose uploads these are; others do not see them */
  constructor(account: string, factory: IDBFactory | undefined) {
    this.#account = account;
    this.#database = open(factory);
  }

  /** The files that are remembered below a folder. */
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
  async forget({ bucket, key }: ObjectName): Promise<void> {
    const record = await this.#read<FileRecord>(FILES, (store) => store.get(this.#key(bucket, key)));
    await this.#write((stores) => {
      stores.files.delete(this.#key(bucket, key));
      if (record?.upload) forgetParts(stores.parts, record.upload.uploadId);
    });
  }

  async batches(): Promise<readonly BatchRecord[]> {
    const range = IDBKeyRange.bound([this.#account], [this.#account, LAST]);
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
    return [this.#account, bucket, key];
  }

  #below(bucket: string, prefix: string): IDBKeyRange {
    return IDBKeyRange.bound(this.#key(bucket, prefix), this.#key(bucket, prefix + LAST));
  }

  /** Reads once everything that was to be written is there; null where it cannot. */
  async #read<Result>(name: string, request: (store: IDBObjectStore) => IDBRequest): Promise<Result | null> {
    await this.#writing;
    const database = await this.#database;
    if (!database) return null;
    return await new Promise((resolve) => {
      try {
        const asked = request(database.transaction(name).objectStore(name));
        asked.onsuccess = () => resolve(asked.result ?? null);
        asked.onerror = () => resolve(null);
      } catch {
        // The browser has closed the database.
        resolve(null);
      }
    });
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
      const transaction = begin(database);
      if (!transaction) return resolve();
      transaction.oncomplete = transaction.onabort = transaction.onerror = () => resolve();
      const [files, parts, batches] = [FILES, PARTS, BATCHES].map((name) => transaction.objectStore(name));
      for (const write of writes) {
        try {
          write({ files, parts, batches });
        } catch {
          // A record that cannot be stored is not remembered: the upload goes on without.
        }
      }
    });
  }
}

/** @returns null where the browser has closed the database */
function begin(database: IDBDatabase): IDBTransaction | null {
  try {
    return database.transaction([FILES, PARTS, BATCHES], "readwrite");
  } catch {
    return null;
  }
}

function forgetParts(parts: IDBObjectStore, uploadId: string): void {
  parts.delete(IDBKeyRange.bound([uploadId, 0], [uploadId, Infinity]));
}

/** @returns null where the browser has no such memory, as in some private windows */
function open(factory: IDBFactory | undefined): Promise<IDBDatabase | null> {
  if (!factory) return Promise.resolve(null);
  return new Promise((resolve) => {
    try {
      const request = factory.open(DATABASE, VERSION);
      request.onupgradeneeded = () => {
        for (const name of [FILES, PARTS, BATCHES]) request.result.createObjectStore(name);
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = () => resolve(null);
    } catch {
      resolve(null);
    }
  });
}
