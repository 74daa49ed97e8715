import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { Digest } from "@/lib/std/digests.ts";
import { getObject, type VersionRef } from "@/lib/s3/objects.ts";
import { announcedLength, boundedReader, endedBy, streamReader } from "@/lib/std/body_reader.ts";
import { sleep } from "@/lib/std/timing.ts";
import { isStrong, mayPass } from "@/lib/tasks/zip/entry_read.ts";

/** Where objects are read, and how fast. */
export interface ReadSource {
  readonly s3: S3;
  /** Its signal ends the reading. */
  readonly caller: Caller & { readonly signal: AbortSignal };
  /** Waits between two tries of a read, ms; there is one try more than waits. */
  readonly retryMs: readonly number[];
  /** Runs a read when this process may read from the store. */
  readonly read: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called with the bytes of each chunk, and waited for. @returns whether the wait was a long one */
  readonly pace: (bytes: number) => Promise<boolean>;
}

/** Response headers of an object, with two of them parsed; null where missing or invalid. */
interface OpenedObject {
  readonly headers: Headers;
  readonly etag: string | null;
  readonly size: number | null;
}

/** Receives the bytes of an object, whose memory it must not keep. */
type Receiver = Pick<Digest, "update">;

/** Waits that outlast a store that fails for a while with some requests: a false alarm costs more than some seconds. */
export const RETRY_MS = [100, 500, 2000, 5000] as const;

const MAX_CHUNK_BYTES = 256 * 1024;
/** After so many bytes a read that breaks off has all its tries again. */
const PROGRESS_BYTES = 1024 * 1024;

/** A body ended before or behind its announced length. */
export class WrongLength extends Error {
  override readonly name = "WrongLength";
}

/**
 * Reads all bytes of an object, chunk by chunk. A broken read is resumed at its position if the object has the same strong
 * ETag, else it starts again.
 *
 * @param ifMatch the ETag that it must have; null: any
 * @param receiverFor creates the receiver whenever reading starts at the first byte
 * @returns the ETag, the size in bytes and what has received all of them
 * @throws HttpError as {@link getObject}, 412 for another ETag; WrongLength; what broke the body; the reason of the signal
 */
export async function readObject<R extends Receiver>(
  { s3, caller, retryMs, read, pace }: ReadSource,
  ref: VersionRef,
  ifMatch: string | null,
  receiverFor: (opened: OpenedObject) => R,
) {
  const { signal } = caller;
  let opened: OpenedObject & { readonly receiver: R } | null = null;
  let position = 0;
  /** Whether the body waited since its last chunk, so that the store may have closed it. */
  let isPaused = false;

  async function readOn() {
    const etag = opened ? opened.etag : ifMatch;
    if (!isStrong(etag)) position = 0;
    const from = position;
    const response = await open(etag, from);
    if (from === 0 || !opened) {
      position = 0;
      const { headers } = response;
      const found = { headers, etag: headers.get("etag"), size: announcedLength(response) };
      opened = { ...found, receiver: receiverFor(found) };
    }
    const { size, etag: found, receiver } = opened;
    let skipped = response.status === 206 ? 0 : from;
    await readBody(response, (chunk) => {
      const cut = Math.min(skipped, chunk.length);
      skipped -= cut;
      if (cut === chunk.length) return;
      const rest = cut > 0 ? chunk.subarray(cut) : chunk;
      position += rest.length;
      receiver.update(rest);
    });
    if (size !== null && position !== size) throw new WrongLength(`${position} bytes of ${size} came`);
    return { etag: found, size: position, receiver };
  }

  async function open(etag: string | null, from: number): Promise<Response> {
    const headers: Record<string, string> = { "x-amz-checksum-mode": "ENABLED" };
    if (isStrong(etag)) headers["if-match"] = etag;
    if (from > 0) headers.range = `bytes=${from}-`;
    const response = await getObject(s3, caller, ref, headers);
    const begins = response.status !== 206 || response.headers.get("content-range")?.startsWith(`bytes ${from}-`);
    if (begins) return response;
    await response.body?.cancel();
    throw new WrongLength("another range came");
  }

  async function readBody(response: Response, consume: (chunk: Uint8Array) => void): Promise<void> {
    if (!response.body) return;
    const sizes = { mostBytes: MAX_CHUNK_BYTES, freesChunks: true };
    const reader = endedBy(signal, boundedReader(streamReader(response.body, sizes), { bounds: s3.bounds }));
    try {
      for (let chunk; (chunk = await reader.read());) {
        signal.throwIfAborted();
        consume(chunk);
        isPaused = await pace(chunk.length);
      }
      signal.throwIfAborted();
    } finally {
      reader.cancel();
    }
  }

  return await read(async () => {
    for (let tries = 0;;) {
      const from = position;
      try {
        return await readOn();
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (isPaused) {
          isPaused = false;
          continue;
        }
        if (!mayPass(error)) throw error;
        if (position - from >= PROGRESS_BYTES) tries = 0;
        if (tries >= retryMs.length) throw error;
        await sleep(retryMs[tries++], signal);
        signal.throwIfAborted();
      }
    }
  });
}
