import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import { getObject } from "@/lib/s3/objects.ts";
import {
  announcedLength,
  type BodyReader,
  boundedReader,
  endedBy,
  readWhole,
  streamReader,
  totalMs,
} from "@/lib/std/body_reader.ts";
import { sleep } from "@/lib/std/timing.ts";
import { isFolder, type LeftOut, type PlannedEntry } from "./zip_format.ts";

/** Where the objects of an archive are read. */
export interface ObjectSource {
  readonly s3: S3;
  readonly caller: Caller;
  readonly bucket: string;
  /** Waits between two tries of a read, ms; there is one try more than waits. */
  readonly retryMs: readonly number[];
  /**
   * Waits until this process may read from the store. What is opened is bounded until the returned function is called.
   *
   * @throws the reason of the signal
   */
  readonly enter: () => Promise<() => void>;
  /** Ends all reads. */
  readonly signal: AbortSignal;
}

/** Waits that outlast a short overload of the store. */
export const RETRY_MS = [100, 500, 2000] as const;

/** Objects up to this size are read whole when they are opened, bytes. */
export const SHORT_BYTES = 2 * 1024 * 1024;

/** The object of an entry is not what it was when the archive was planned. */
class EntryChanged extends Error {
  override readonly name = "EntryChanged";
}

/**
 * Opens an object of a plan, again where the store is busy. All bytes are of the object that was planned, since its ETag
 * is compared.
 *
 * @returns its bytes, or why it is left out
 * @throws HttpError where the store refuses the credentials, or does not work
 */
export async function openEntry(source: ObjectSource, entry: PlannedEntry): Promise<BodyReader | LeftOut> {
  if (isFolder(entry.key, entry.size)) return readerOf(new Uint8Array(0));
  try {
    return await retried(source, () => openOnce(source, entry));
  } catch (error) {
    const problem = problemOf(error);
    if (problem === "fatal" || source.signal.aborted) throw error;
    if (problem !== "retry") return problem;
    await headBucket(source.s3, source.caller, source.bucket);
    return "unreadable";
  }
}

/** Tries a read of an object again where the store is busy. @throws what the last try has thrown */
export async function retried<T>(
  { retryMs, signal }: Pick<ObjectSource, "retryMs" | "signal">,
  read: () => Promise<T>,
): Promise<T> {
  for (let tries = 0;; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!mayPass(error) || tries === retryMs.length || signal.aborted) throw error;
      await sleep(retryMs[tries], signal);
      signal.throwIfAborted();
    }
  }
}

/** Whether the same read may succeed later: after a status below 500 the store says the same of the object again. */
export function mayPass(error: unknown): boolean {
  const problem = problemOf(error);
  return problem === "retry" || (problem === "unreadable" && error instanceof HttpError && error.status >= 500);
}

async function openOnce(source: ObjectSource, entry: PlannedEntry): Promise<BodyReader> {
  const { s3, caller, bucket, signal } = source;
  const { key, etag, size } = entry;
  const leave = await source.enter();
  try {
    const headers: Record<string, string> = isStrong(etag) ? { "if-match": etag } : {};
    const response = await getObject(s3, { ...caller, signal }, { bucket, key }, headers);
    const length = announcedLength(response);
    const tag = response.headers.get("etag");
    const isChanged = tag !== null && tag !== etag || length !== null && length !== size;
    if (isChanged || response.status !== 200 || !response.body) {
      await response.body?.cancel();
      if (isChanged) throw new EntryChanged();
      throw badGateway(`object '${key}': the store's response is not valid`);
    }
    if (size <= SHORT_BYTES) return readerOf(await wholeBody(source, response.body, size));
    return endedBy(signal, boundedReader(streamReader(response.body), { bounds: s3.bounds }));
  } finally {
    leave();
  }
}

async function wholeBody({ s3, signal }: ObjectSource, body: ReadableStream<Uint8Array<ArrayBuffer>>, size: number) {
  const reader = endedBy(signal, streamReader(body));
  const limits = { maxBytes: size, totalMs: totalMs(size, s3.bounds), bounds: s3.bounds };
  const bytes = await readWhole(reader, limits);
  if (bytes.length !== size) throw new Error("cut short");
  return bytes;
}

function readerOf(bytes: Uint8Array<ArrayBuffer>): BodyReader {
  let rest: Uint8Array<ArrayBuffer> | null = bytes;
  const take = () => {
    const taken = rest;
    rest = null;
    return taken;
  };
  return { read: () => Promise.resolve(take()), cancel: take };
}

/** Whether If-Match can compare an ETag (RFC 9110, section 13.1.1). */
export function isStrong(etag: string | null): etag is string {
  return etag !== null && /^"[^"]*"$/.test(etag);
}

/**
 * Classifies an error of a read: the object is left out for a reason, a retry may succeed, or all reads will fail.
 * `unreadable` is tried again first, since a store may have failed for another reason than the object.
 */
export function problemOf(error: unknown): LeftOut | "retry" | "fatal" {
  if (error instanceof EntryChanged) return "changed";
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
