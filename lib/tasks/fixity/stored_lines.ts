import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { blobDigest } from "@/lib/tasks/task_keys.ts";

/** Lines that have so much text become a blob, characters. */
const CHUNK_CHARACTERS = 128 * 1024;
/** The longest chunk after unpacking, bytes: one line more than {@link CHUNK_CHARACTERS}. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** Lines as a task stores them: chunks that are blobs, and the last lines. */
export const storedLines = z.object({
  /** SHA-256 of each chunk, which is a part of its name. */
  chunks: z.array(z.string()),
  count: z.int().min(0),
  bytes: z.int().min(0),
  /** Lines beyond the bounds, which are counted only. */
  leftOut: z.int().min(0),
  pending: z.string(),
});
export type StoredLines = z.output<typeof storedLines>;

export const NO_LINES: StoredLines = { chunks: [], count: 0, bytes: 0, leftOut: 0, pending: "" };

/** Which lines of a task, and how many: beyond either bound lines are counted only. */
interface LineBounds {
  /** What the names of their blobs begin with. */
  readonly name: string;
  readonly maxLines: number;
  /** Of packed chunks. */
  readonly maxBytes: number;
}

/** Stores and reads blobs of a task by their names. */
export type WriteBlobs = (blobs: ReadonlyMap<string, Uint8Array>) => Promise<void>;
export type ReadBlobs = (names: readonly string[]) => Promise<(Uint8Array | null)[]>;

/**
 * Adds a line, given with its line end. A full chunk is stored before the result names it, under a name of its own, so that a process that dies
 * between leaves the lines as they were.
 */
export async function withLine(
  lines: StoredLines,
  line: string,
  { name, maxLines, maxBytes }: LineBounds,
  write: WriteBlobs,
): Promise<StoredLines> {
  if (lines.count >= maxLines || lines.bytes >= maxBytes) return { ...lines, leftOut: lines.leftOut + 1 };
  const pending = lines.pending + line;
  const added = { ...lines, count: lines.count + 1, pending };
  if (pending.length < CHUNK_CHARACTERS) return added;
  const blob = gzipSync(pending, { level: 6 });
  const digest = blobDigest(blob);
  await write(new Map([[chunkName(name, digest), blob]]));
  return { ...added, chunks: [...lines.chunks, digest], bytes: lines.bytes + blob.length, pending: "" };
}

/** The text of lines in their order, chunk by chunk; null in the place of a chunk that is gone or was changed. */
export async function* readLines(lines: StoredLines, name: string, read: ReadBlobs): AsyncGenerator<string | null> {
  for (const digest of lines.chunks) {
    const [blob] = await read([chunkName(name, digest)]);
    yield blob && blobDigest(blob) === digest ? unpacked(blob) : null;
  }
  if (lines.pending !== "") yield lines.pending;
}

/** The chunks of lines under names for another task; null where one is gone or was changed. */
export async function copiedChunks(
  lines: StoredLines,
  name: string,
  copyName: string,
  read: ReadBlobs,
): Promise<Map<string, Uint8Array> | null> {
  const copies = new Map<string, Uint8Array>();
  for (const digest of lines.chunks) {
    const [blob] = await read([chunkName(name, digest)]);
    if (!blob || blobDigest(blob) !== digest) return null;
    copies.set(chunkName(copyName, digest), blob);
  }
  return copies;
}

/** Blobs that take the place of chunks which are not needed any more. */
export function emptyChunks({ chunks }: StoredLines, name: string): Map<string, Uint8Array> {
  return new Map(chunks.map((digest) => [chunkName(name, digest), new Uint8Array(0)]));
}

function chunkName(name: string, digest: string): string {
  return `${name}/${digest}`;
}

function unpacked(blob: Uint8Array): string {
  return gunzipSync(Buffer.from(blob), { maxOutputLength: MAX_CHUNK_BYTES }).toString("utf8");
}
