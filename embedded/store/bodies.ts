import { randomUUID } from "node:crypto";
import {
  type BodyReader,
  boundedReader,
  ChunksTooSmall,
  joinedBytes,
  SlowBody,
  type TimeBounds,
} from "@/lib/std/body_reader.ts";
import { type Digest, type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { removeIfExists, syncFolder } from "@/lib/std/files.ts";
import type { StoredBody } from "./changes.ts";
import type { DiskSpace } from "./disk_space.ts";
import { isNoSpace, StoreError } from "./store_error.ts";

/** The folder of large bodies, below the data folder. */
export const BODY_FOLDER = "bodies";

/** Bodies up to this many bytes are stored in the index: one flush for many of them, instead of two for each. */
export const INLINE_LIMIT_BYTES = 16 * 1024;

/** Files of this size and above are flushed before the writer gets them: its flush would delay other changes. */
const EARLY_SYNC_BYTES = 4 * 1024 * 1024;

/** How much of a file is read at a time. */
const READ_CHUNK_BYTES = 256 * 1024;

/** Where bodies are received. */
export interface BodyFolder {
  /** The data folder. */
  readonly folder: string;
  /** Checks the room on its disk; without it, writes fail when the disk is full. */
  readonly space?: DiskSpace;
}

/** A received body that is not yet an object. */
export interface ReceivedBody {
  body: StoredBody;
  size: number;
  /** Hexadecimal digests of the bytes: `md5`, and those that were requested. */
  digests: Map<DigestAlgorithm, string>;
  /** Discards the body; harmless once an object has it. */
  discard(): void;
}

/** The name of the folder for bodies received at a time: one for each hour, so that a sweep searches few folders. */
export function bodyFolderName(now: Date): string {
  return now.toISOString().slice(0, 13).replace(/[-T]/g, "");
}

/** Raised when the sender of a body disconnected. */
export class BrokenBody extends Error {
  override name = "BrokenBody";
}

/** Bytes of a body, whose memory no other thread shares. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Removes the framing of a body. A chunk, read or yielded, is valid until the next one is requested. */
export type BodyDecoder = (parts: AsyncIterable<Bytes>) => AsyncIterable<Bytes>;

/**
 * Receives a body: into memory while it is small, else into a file that no row names yet. On an error no file remains.
 *
 * @throws {BrokenBody | ChunksTooSmall | SlowBody} and what `decode` throws
 * @throws {StoreError} OutOfSpace
 * @param reader null: an empty body
 */
export async function receiveBody(
  { folder, space }: BodyFolder,
  reader: BodyReader | null,
  algorithms: readonly DigestAlgorithm[],
  decode: BodyDecoder = (parts) => parts,
): Promise<ReceivedBody> {
  const digests = new Map<DigestAlgorithm, Digest>();
  for (const algorithm of ["md5", ...algorithms] as const) digests.set(algorithm, startDigest(algorithm));
  const small: Uint8Array[] = [];
  let file: ReturnType<typeof createBodyFile> | null = null;
  let size = 0;
  try {
    for await (const chunk of decode(bodyChunks(reader))) {
      size += chunk.length;
      for (const digest of digests.values()) digest.update(chunk);
      if (!file && size > INLINE_LIMIT_BYTES) {
        if (space && !await space.admits()) throw new StoreError("OutOfSpace");
        file = createBodyFile(folder);
        for (const earlier of small.splice(0)) writeWhole(file.open, earlier);
      }
      if (file && space?.isReserved) throw new StoreError("OutOfSpace");
      if (file) writeWhole(file.open, chunk);
      else small.push(chunk.slice());
    }
    if (file && size >= EARLY_SYNC_BYTES) await file.open.syncData();
  } catch (error) {
    file?.open.close();
    if (file) removeIfExists(file.path);
    if (isNoSpace(error)) space?.recordFull(size);
    throw error;
  }
  file?.open.close();
  const path = file?.path;
  return {
    body: file ? { file: file.name } : { data: small.length === 1 ? small[0] : joinedBytes(small) },
    size,
    digests: new Map([...digests].map(([algorithm, digest]) => [algorithm, digest.hex()])),
    discard: () => path === undefined ? undefined : removeIfExists(path),
  };
}

/**
 * The bytes `first` to `last` (inclusive) of a stored file of `size` bytes, read on demand.
 *
 * @throws {Deno.errors.NotFound}
 */
export async function readBodyFile(
  path: string,
  first: number,
  last: number,
  size: number,
): Promise<ReadableStream<Bytes>> {
  if (last + 1 < size) return readFileSpan(path, first, last);
  // A file's own stream is handed to the socket by the runtime, without a copy in JavaScript.
  return (await openAt(path, first)).readable;
}

/**
 * The bytes `first` to `last` (inclusive) of a stored file in large chunks: through JavaScript they go half again as
 * fast as the chunks of the file's own stream.
 *
 * @throws {Deno.errors.NotFound}
 */
export async function readFileSpan(path: string, first: number, last: number): Promise<ReadableStream<Bytes>> {
  const file = await openAt(path, first);
  let left = last - first + 1;
  return new ReadableStream<Bytes>({
    async pull(controller) {
      const buffer = new Uint8Array(Math.min(left, READ_CHUNK_BYTES));
      const read = left === 0 ? null : await file.read(buffer).catch((error) => {
        file.close();
        throw error;
      });
      if (read === null) {
        file.close();
        if (left > 0) controller.error(new Error("a stored body is shorter than its row says"));
        else controller.close();
        return;
      }
      left -= read;
      controller.enqueue(buffer.subarray(0, read));
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}

async function openAt(path: string, first: number): Promise<Deno.FsFile> {
  const file = await Deno.open(path, { read: true });
  if (first > 0) await file.seek(first, Deno.SeekMode.Start);
  return file;
}

/** The chunks of a body; each is valid until the next one is requested. The body is cancelled however the reading ends. */
export async function* bodyChunks(body: BodyReader | null, bounds?: TimeBounds): AsyncGenerator<Bytes> {
  if (!body) return;
  const reader = boundedReader(body, { bounds });
  try {
    for (;;) {
      const bytes: Bytes | null = await reader.read().catch((cause) => {
        if (cause instanceof ChunksTooSmall || cause instanceof SlowBody) throw cause;
        throw new BrokenBody("the sender broke off", { cause });
      });
      if (!bytes) return;
      yield bytes;
    }
  } finally {
    reader.cancel();
  }
}

function createBodyFile(folder: string): { name: string; path: string; open: Deno.FsFile } {
  const hour = `${BODY_FOLDER}/${bodyFolderName(new Date())}`;
  const name = `${hour}/${randomUUID()}`;
  const path = `${folder}/${name}`;
  const open = () => Deno.openSync(path, { createNew: true, write: true, mode: 0o600 });
  try {
    return { name, path, open: open() };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  Deno.mkdirSync(`${folder}/${hour}`, { recursive: true, mode: 0o700 });
  syncFolder(`${folder}/${BODY_FOLDER}`);
  return { name, path, open: open() };
}

/** Synchronous on purpose: it only fills the page cache, and Deno's pool for asynchronous writes collapses under load. */
function writeWhole(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}

/** A part of a body in parts: a file below the data folder, or bytes in memory. */
export type PartSource = { file: string; size: number } | { data: Bytes; size: number };

/**
 * How many parts are open at a time. They are opened before their turn, since an overwrite meanwhile unlinks them: a file
 * that is open can be read on. Few enough for many readers under the usual limit of open files.
 */
const OPEN_PARTS = 64;

/**
 * The bytes `first` to `last` (inclusive) of a body in parts, one stream over all of them.
 *
 * @throws {Deno.errors.NotFound} when a part is gone before the first byte is read; one that is gone later breaks the
 *   stream, so that nothing mixed is read
 */
export async function readParts(
  folder: string,
  parts: readonly PartSource[],
  first: number,
  last: number,
): Promise<ReadableStream<Bytes>> {
  const waiting = overlapping(parts, first, last);
  const open: ReadableStreamDefaultReader<Bytes>[] = [];
  const openNext = async () => {
    const next = waiting.shift();
    if (next) open.push((await openPart(folder, next)).getReader());
  };
  const closeAll = async (reason: unknown) => {
    await Promise.all(open.splice(0).map((reader) => reader.cancel(reason).catch(() => {})));
  };
  try {
    while (waiting.length > 0 && open.length < OPEN_PARTS) await openNext();
  } catch (error) {
    await closeAll(error);
    throw error;
  }
  return new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        while (open.length > 0) {
          const { done, value } = await open[0].read();
          if (!done) return controller.enqueue(value);
          open.shift();
          await openNext();
        }
        controller.close();
      } catch (error) {
        await closeAll(error);
        throw error;
      }
    },
    cancel: closeAll,
  }, { highWaterMark: 0 });
}

interface Span {
  part: PartSource;
  first: number;
  last: number;
}

/** The bytes of each part that a range covers. */
function overlapping(parts: readonly PartSource[], first: number, last: number): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const part of parts) {
    const end = start + part.size;
    if (part.size > 0 && first < end && last >= start) {
      spans.push({ part, first: Math.max(0, first - start), last: Math.min(last, end - 1) - start });
    }
    start = end;
  }
  return spans;
}

function openPart(folder: string, { part, first, last }: Span): Promise<ReadableStream<Bytes>> {
  if ("file" in part) return readFileSpan(`${folder}/${part.file}`, first, last);
  return Promise.resolve(ReadableStream.from([part.data.subarray(first, last + 1)]));
}
