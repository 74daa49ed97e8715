import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { S3Failure } from "@/lib/s3/errors.ts";
import { getObject } from "@/lib/s3/objects.ts";
import { announcedLength, streamReader } from "@/lib/std/body_reader.ts";
import { boundedReader, readWhole } from "@/lib/std/bounded_reader.ts";
import { sleep } from "@/lib/std/sleep.ts";
import { totalMs } from "@/lib/std/time_bounds.ts";
import type { LeftOut, PlannedEntry } from "./zip_plan.ts";

/** Where the objects of an archive are read. */
export interface ObjectSource {
  readonly s3: S3;
  readonly caller: Caller;
  readonly bucket: string;
  /** Waits between two tries of a read, ms; there is one try more than waits. */
  readonly retryMs: readonly number[];
  /**
   * Waits until this process may read from the store. Bytes are read only until the returned function is called.
   *
   * @throws the reason of the signal
   */
  readonly enter: (signal: AbortSignal) => Promise<() => void>;
}

/** Waits that outlast a short overload of the store. */
export const RETRY_MS = [100, 500, 2000] as const;

/** Objects up to this size are read whole before their first byte is sent, bytes. */
const WHOLE_BYTES = 2 * 1024 * 1024;
/** So much of a longer object is read ahead, bytes. */
const AHEAD_BYTES = 4 * 1024 * 1024;
/** After so many bytes a read that breaks off has all its tries again. */
const PROGRESS_BYTES = 64 * 1024;

/** The object of an entry is not what it was when the archive was planned. */
export class EntryChanged extends Error {
  override readonly name = "EntryChanged";

  constructor(readonly reason: LeftOut) {
    super(reason);
  }
}

/** A body ended early. */
class ShortBody extends Error {
  override readonly name = "ShortBody";
}

/** Most memory that a read takes, bytes. */
export function memoryOf({ size }: Pick<PlannedEntry, "size">): number {
  return Math.min(size, AHEAD_BYTES);
}

/**
 * Reads an object of a plan ahead of its turn, from an offset on. A read that breaks off is continued where it was. All
 * bytes are of the object that was planned, since its ETag is compared.
 */
export class EntryRead {
  readonly entry: PlannedEntry;
  /** Resolves when there are bytes, or all of a short object. @throws EntryChanged, HttpError, what broke the body */
  readonly begun: Promise<void>;
  readonly #source: ObjectSource;
  readonly #abort = new AbortController();
  readonly #queue: Uint8Array<ArrayBuffer>[] = [];
  #queuedBytes = 0;
  #position: number;
  #isBegun = false;
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;
  /** What waits for bytes, or for room. */
  #waiting: (() => void)[] = [];
  #cancelBody = () => {};
  /** Releases its slot among the reads of this process; has no effect while it has none. */
  #leave = () => {};

  /**
   * @param from first byte that is read
   * @param onEnd called once when it reads nothing more
   */
  constructor(source: ObjectSource, entry: PlannedEntry, from: number, onEnd: () => void) {
    this.#source = source;
    this.entry = entry;
    this.#position = from;
    const begun = Promise.withResolvers<void>();
    this.begun = begun.promise;
    // Reported where its turn has come.
    this.begun.catch(() => {});
    this.#run(() => {
      this.#isBegun = true;
      begun.resolve();
    }).catch((error) => {
      this.#failure = { error };
      begun.reject(error);
    }).finally(() => {
      this.#isOver = true;
      begun.resolve();
      this.#wake();
      onEnd();
    });
  }

  /** Whether the next bytes need not be waited for. */
  get isReady(): boolean {
    return this.#queue.length > 0 || this.#isOver;
  }

  /** The next bytes, in memory of their own; null at the end. @throws as `begun` */
  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    while (this.#queue.length === 0 && !this.#isOver) await this.#woken();
    const chunk = this.#queue.shift();
    if (!chunk) {
      if (this.#failure) throw this.#failure.error;
      return null;
    }
    this.#queuedBytes -= chunk.length;
    this.#wake();
    return chunk;
  }

  /** Ends the reading, at the store as well. */
  cancel(): void {
    if (!this.#isOver) {
      this.#abort.abort();
      this.#cancelBody();
    }
    this.#queue.length = 0;
    this.#wake();
  }

  async #run(begun: () => void): Promise<void> {
    const { retryMs } = this.#source;
    for (let tries = 0;;) {
      const from = this.#position;
      try {
        await this.#readOnce(begun);
        return begun();
      } catch (error) {
        if (this.#abort.signal.aborted) throw error;
        const problem = problemOf(error);
        if (problem === "fatal") throw error;
        if (problem !== "retry" && problem !== "unreadable") throw new EntryChanged(problem);
        if (this.#position - from >= PROGRESS_BYTES) tries = 0;
        if (tries >= retryMs.length) {
          if (problem === "unreadable" && !this.#isBegun) throw new EntryChanged(problem);
          throw error;
        }
        await sleep(retryMs[tries++], this.#abort.signal);
      }
    }
  }

  async #readOnce(begun: () => void): Promise<void> {
    await this.#enter();
    try {
      if (this.entry.size <= WHOLE_BYTES) await this.#readWhole();
      else await this.#readOn(begun);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    this.#leave = await this.#source.enter(this.#abort.signal);
  }

  /** Waits while what was read ahead fills its memory. A slow client must not take the slot of other reads meanwhile. */
  async #room(): Promise<void> {
    if (this.#queuedBytes < AHEAD_BYTES) return;
    this.#leave();
    while (this.#queuedBytes >= AHEAD_BYTES && !this.#abort.signal.aborted) await this.#woken();
    await this.#enter();
  }

  /** A short body is read at once: each of its chunks would cost more than all the rest. */
  async #readWhole(): Promise<void> {
    const from = this.#position;
    const response = await this.#open(from);
    const skipped = response.status === 206 ? 0 : from;
    const length = this.entry.size - from + skipped;
    if (!response.body) throw new ShortBody("no body");
    const reader = streamReader(response.body);
    this.#cancelBody = () => reader.cancel();
    const { bounds } = this.#source.s3;
    const bytes = await readWhole(reader, { maxBytes: length, totalMs: totalMs(this.entry.size, bounds), bounds });
    if (bytes.length !== length) throw new ShortBody("cut short");
    this.#add(skipped > 0 ? bytes.subarray(skipped) : bytes);
  }

  async #readOn(begun: () => void): Promise<void> {
    const response = await this.#open(this.#position);
    if (!response.body) throw new ShortBody("no body");
    let skipped = response.status === 206 ? 0 : this.#position;
    const reader = boundedReader(streamReader(response.body), { bounds: this.#source.s3.bounds });
    this.#cancelBody = () => reader.cancel();
    try {
      for (;;) {
        await this.#room();
        this.#abort.signal.throwIfAborted();
        let chunk = await reader.read();
        this.#abort.signal.throwIfAborted();
        if (!chunk) break;
        if (skipped > 0) {
          const cut = Math.min(skipped, chunk.length);
          skipped -= cut;
          chunk = chunk.subarray(cut);
        }
        if (chunk.length === 0) continue;
        if (this.#position + chunk.length > this.entry.size) throw new EntryChanged("changed");
        this.#add(chunk);
        begun();
      }
    } finally {
      reader.cancel();
    }
    if (this.#position < this.entry.size) throw new ShortBody("cut short");
  }

  async #open(from: number): Promise<Response> {
    const { s3, caller, bucket } = this.#source;
    const { key, etag, size } = this.entry;
    const headers: Record<string, string> = {};
    if (isStrong(etag)) headers["if-match"] = etag;
    if (from > 0) headers.range = `bytes=${from}-`;
    const signal = this.#abort.signal;
    const response = await getObject(s3, { ...caller, signal }, { bucket, key }, { headers });
    const tag = response.headers.get("etag");
    const length = announcedLength(response);
    const expected = response.status === 206 ? size - from : size;
    if (tag !== null && tag !== etag || length !== null && length !== expected) {
      await response.body?.cancel();
      throw new EntryChanged("changed");
    }
    if (response.status === 206 && !response.headers.get("content-range")?.startsWith(`bytes ${from}-`)) {
      await response.body?.cancel();
      throw badGateway(`object '${key}': the store's response is not valid`);
    }
    return response;
  }

  #add(chunk: Uint8Array<ArrayBuffer>): void {
    this.#position += chunk.length;
    if (this.#abort.signal.aborted || chunk.length === 0) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#wake();
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

/** Whether If-Match can compare an ETag (RFC 9110, section 13.1.1). */
function isStrong(etag: string | null): etag is string {
  return etag !== null && /^"[^"]*"$/.test(etag);
}

/**
 * What an error of a read means: why the object is left out, that it may pass, or that all reads will fail.
 * `unreadable` is tried again first, since a store may have failed for another reason than the object.
 */
export function problemOf(error: unknown): LeftOut | "retry" | "fatal" {
  if (error instanceof EntryChanged) return error.reason;
  if (!(error instanceof HttpError)) return "retry";
  switch (error.status) {
    case 401:
    case 499:
      return "fatal";
    case 403:
      return "denied";
    case 404:
      return "gone";
    case 412:
    case 416:
      return "changed";
    case 408:
    case 429:
    case 503:
      return "retry";
  }
  // The store has responded about this object, and may respond well about others.
  if (error instanceof S3Failure || error.status < 500) return "unreadable";
  return "retry";
}
