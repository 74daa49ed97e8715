import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { blobDigest } from "@/lib/tasks/task_keys.ts";
import { type ReportRow, reportRow } from "./report_row.ts";

/** Rows that have so much text become a blob, characters. */
const CHUNK_CHARACTERS = 128 * 1024;
/** The longest chunk after unpacking, bytes: one row more than {@link CHUNK_CHARACTERS}. */
const MAX_CHUNK_BYTES = 1024 * 1024;
/** Most rows of a report: of what is not intact, and of all objects. */
export const MAX_ROWS = 100_000;
export const MAX_FULL_ROWS = 500_000;
/** Most bytes of the packed rows of a report. */
const MAX_BYTES = 16 * 1024 * 1024;

const ROWS_GONE = "The rows of this report are gone: they are kept for 30 days, its totals for 400";

/** The rows of a report as its task stores them: chunks that are blobs, and the last rows as lines of JSON. */
export const storedRows = z.object({
  /** SHA-256 of each chunk, which is a part of its name. */
  chunks: z.array(z.string()),
  count: z.int().min(0),
  bytes: z.int().min(0),
  /** Rows beyond the bounds, which are counted only. */
  leftOut: z.int().min(0),
  pending: z.string(),
});
type StoredRows = z.output<typeof storedRows>;

export const NO_ROWS: StoredRows = { chunks: [], count: 0, bytes: 0, leftOut: 0, pending: "" };

/** Stores and reads blobs of a task by their names. */
type WriteBlobs = (blobs: ReadonlyMap<string, Uint8Array>) => Promise<void>;
type ReadBlobs = (names: readonly string[]) => Promise<(Uint8Array | null)[]>;

/**
 * Adds a row. A full chunk is stored before the result names it, under a name of its own, so that a process that dies between
 * leaves the rows as they were.
 *
 * @param maxRows beyond which rows are counted only
 */
export async function withRow(
  rows: StoredRows,
  row: ReportRow,
  maxRows: number,
  write: WriteBlobs,
): Promise<StoredRows> {
  if (rows.count >= maxRows || rows.bytes >= MAX_BYTES) return { ...rows, leftOut: rows.leftOut + 1 };
  const pending = `${rows.pending}${JSON.stringify(row)}\n`;
  const added = { ...rows, count: rows.count + 1, pending };
  if (pending.length < CHUNK_CHARACTERS) return added;
  const blob = gzipSync(pending, { level: 6 });
  const digest = blobDigest(blob);
  await write(new Map([[chunkName(digest), blob]]));
  return { ...added, chunks: [...rows.chunks, digest], bytes: rows.bytes + blob.length, pending: "" };
}

/** The rows of a report in their order, chunk by chunk. @throws HttpError 410 where they are gone or were changed */
export async function* readRows(rows: StoredRows, read: ReadBlobs): AsyncGenerator<ReportRow[]> {
  for (const digest of rows.chunks) {
    const [blob] = await read([chunkName(digest)]);
    if (!blob || blobDigest(blob) !== digest) throw new HttpError(410, ROWS_GONE);
    yield parsedRows(unpacked(blob));
  }
  if (rows.pending !== "") yield parsedRows(rows.pending);
}

function chunkName(digest: string): string {
  return `rows/${digest}`;
}

function unpacked(blob: Uint8Array): string {
  return gunzipSync(Buffer.from(blob), { maxOutputLength: MAX_CHUNK_BYTES }).toString("utf8");
}

function parsedRows(lines: string): ReportRow[] {
  return lines.split("\n").filter((line) => line !== "").map((line) => reportRow.parse(parsedJson(line)));
}
