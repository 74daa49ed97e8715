import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import { readerSource } from "@/lib/http/body.ts";
import { codedError, HttpError } from "@/lib/http/errors.ts";
import { writeFromSource } from "@/lib/s3/object_upload.ts";
import { chunksReader } from "@/lib/std/body_reader.ts";
import { compareText, csvField } from "@/lib/std/text.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { codeMembers } from "@/lib/tasks/task_responses.ts";
import { blobDigest } from "@/lib/tasks/task_keys.ts";
import { type Entry, expectedEntry, PROOFS } from "./expected.ts";
import { manifestLine } from "./manifest_line.ts";
import { readObject, type ReadSource } from "./object_digests.ts";

/**
 * The results of a check for an object. `missing`: a manifest or an earlier check names it, and the store does not have it;
 * `unproven`: read whole, with nothing to compare it with; `not_in_manifest`: read whole, and the manifest does not name
 * it; `deleted`: gone since it was listed, which is no damage.
 */
export const RESULTS = [
  "intact",
  "changed",
  "missing",
  "unreadable",
  "unproven",
  "not_in_manifest",
  "deleted",
] as const;

/** One object in a report. */
export const reportRow = z.object({
  key: z.string(),
  version_id: z.string().optional().meta({ description: "With `all_versions`" }),
  result: z.enum(RESULTS),
  proved_by: z.enum(PROOFS).optional().meta({ description: "What the object was compared with" }),
  size: z.int().optional().meta({ description: "bytes" }),
  etag: z.string().optional(),
  algorithm: z.string().optional(),
  expected: z.string().optional().meta({ description: "Hexadecimal" }),
  actual: z.string().optional().meta({ description: "Hexadecimal" }),
  sha256: z.string().optional().meta({ description: "SHA-256 of the bytes read, hexadecimal" }),
  detail: z.string().optional(),
  ...codeMembers,
}).meta({ id: "FixityRow" });
export type ReportRow = z.output<typeof reportRow>;

/** Most rows of a report: of what is not intact, and of all objects. */
export const MAX_ROWS = 100_000;
const MAX_FULL_ROWS = 500_000;
/** Most bytes of the packed rows of a report. */
const MAX_BYTES = 16 * 1024 * 1024;
/** How much of a report intact objects may take: damage behind many of them is to be named as well. */
const MAX_INTACT_ROWS = MAX_FULL_ROWS - MAX_ROWS;
const MAX_INTACT_BYTES = MAX_BYTES * 3 / 4;

/** Rows with so much text become a blob, characters. */
const CHUNK_CHARACTERS = 128 * 1024;
/** The longest chunk after unpacking, bytes: one row more than {@link CHUNK_CHARACTERS}. */
const MAX_CHUNK_BYTES = 1024 * 1024;
/** Prefix of blob names: rows of this check, or rows copied from an earlier one. */
type RowsName = "rows" | "baseline";

/** Rows as a task stores them: packed chunks that are blobs, and the last rows as lines of JSON. */
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
 * Adds a row to those that a task stores. A full chunk is stored under a new name before the result refers to it, so that
 * a crash in between changes no stored row.
 *
 * @param isFull whether the report has rows of intact objects
 */
export async function withRow(
  rows: StoredRows,
  row: ReportRow,
  isFull: boolean,
  write: WriteBlobs,
): Promise<StoredRows> {
  const isIntact = row.result === "intact";
  if (isIntact && !isFull) return rows;
  const maxRows = isIntact ? MAX_INTACT_ROWS : isFull ? MAX_FULL_ROWS : MAX_ROWS;
  const maxBytes = isIntact ? MAX_INTACT_BYTES : MAX_BYTES;
  if (rows.count >= maxRows || rows.bytes >= maxBytes) return { ...rows, leftOut: rows.leftOut + 1 };
  const pending = `${rows.pending}${JSON.stringify(row)}\n`;
  const added = { ...rows, count: rows.count + 1, pending };
  if (pending.length < CHUNK_CHARACTERS) return added;
  const blob = gzipSync(pending, { level: 6 });
  const digest = blobDigest(blob);
  await write(new Map([[chunkName("rows", digest), blob]]));
  return { ...added, chunks: [...rows.chunks, digest], bytes: rows.bytes + blob.length, pending: "" };
}

/**
 * The rows of a report in their order, chunk by chunk.
 *
 * @throws HttpError 410 where they are gone or were changed
 */
export async function* readRows(
  rows: StoredRows,
  read: ReadBlobs,
  name: RowsName = "rows",
): AsyncGenerator<ReportRow[]> {
  for (const digest of rows.chunks) {
    const blob = await readChunk(digest, name, read);
    if (blob === null) throw codedError(410, "report_rows_gone");
    yield rowsIn(gunzipSync(Buffer.from(blob), { maxOutputLength: MAX_CHUNK_BYTES }).toString("utf8"));
  }
  if (rows.pending !== "") yield rowsIn(rows.pending);
}

/** The chunks of a check's rows under the names that a later check has for them; null where one is gone or was changed. */
export async function copiedRows(rows: StoredRows, read: ReadBlobs): Promise<Map<string, Uint8Array> | null> {
  const copies = new Map<string, Uint8Array>();
  for (const digest of rows.chunks) {
    const blob = await readChunk(digest, "rows", read);
    if (blob === null) return null;
    copies.set(chunkName("baseline", digest), blob);
  }
  return copies;
}

async function readChunk(digest: string, name: RowsName, read: ReadBlobs): Promise<Uint8Array | null> {
  const [blob] = await read([chunkName(name, digest)]);
  return blob && blobDigest(blob) === digest ? blob : null;
}

const chunkName = (name: RowsName, digest: string) => `${name}/${digest}`;

function rowsIn(lines: string): ReportRow[] {
  return lines.split("\n").filter((line) => line !== "").map((line) => reportRow.parse(parsedJson(line)));
}

interface BaselineOptions {
  readonly rows: StoredRows;
  readonly read: ReadBlobs;
  /** Keys outside of it are left out. */
  readonly prefix: string;
  /** Only keys behind it come; null: all. */
  readonly after: string | null;
}

/** The keys that an earlier check has read, in their order, with the SHA-256 of their bytes. */
export async function* baselineKeys({ rows, read, prefix, after }: BaselineOptions): AsyncGenerator<Entry> {
  for await (const chunk of readRows(rows, read, "baseline")) {
    for (const row of chunk) {
      const { key, etag } = row;
      const sha256 = knownSha256(row);
      if (sha256 === null || !key.startsWith(prefix)) continue;
      if (after !== null && compareText(key, after) <= 0) continue;
      const proved = { proof: "baseline", algorithm: "sha256", expected: sha256, parts: null } as const;
      yield expectedEntry(key, [{ ...proved, etag: etag ?? null }]);
    }
  }
}

/** The expected SHA-256 according to an earlier check. Damage found then counts as damage again. */
function knownSha256({ result, sha256, algorithm, expected, proved_by }: ReportRow): string | null {
  switch (result) {
    case "intact":
    case "unproven":
    case "not_in_manifest":
      return sha256 ?? null;
    case "missing":
      return algorithm === "sha256" ? expected ?? null : null;
    case "changed":
      return algorithm === "sha256" && proved_by === "baseline" ? expected ?? null : null;
    default:
      return null;
  }
}

type Rows = AsyncIterable<readonly ReportRow[]>;

/** A report as JSON, in chunks. Each row is one line, so that it can be read line by line. */
export async function* jsonReport(head: object, rows: Rows): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let isFirst = true;
  for await (const chunk of rows) {
    let text = "";
    for (const row of chunk) {
      text += `${isFirst ? "" : ","}\n${JSON.stringify(row)}`;
      isFirst = false;
    }
    yield text;
  }
  yield "\n]}\n";
}

/** The columns of a report as CSV: members of a row, without the codes for pages. */
const COLUMNS = reportRow.omit({ code: true, params: true }).keyof().options;

/** The rows of a report as CSV, in chunks. */
export async function* csvReport(rows: Rows): AsyncGenerator<string> {
  const csvLine = (fields: Parameters<typeof csvField>[0][]) => `${fields.map(csvField).join(",")}\r\n`;
  yield csvLine(COLUMNS);
  for await (const chunk of rows) yield chunk.map((row) => csvLine(COLUMNS.map((name) => row[name]))).join("");
}

/**
 * The rows of a report as a manifest of BagIt, in chunks.
 *
 * @param folder what its paths are relative to, a prefix of all keys
 * @throws HttpError 409 before the first chunk, for a name that a manifest cannot have
 */
export async function* manifestReport(folder: string, rows: () => Rows): AsyncGenerator<string> {
  for await (const chunk of rows()) {
    for (const { key } of chunk.filter(isInManifest)) {
      if (!isPlainPath(key.slice(folder.length))) throw codedError(409, "not_written_name", { key });
    }
  }
  // The first chunk says whether there are rows.
  yield "";
  for await (const chunk of rows()) {
    yield chunk.filter(isInManifest).map(({ key, sha256 = "" }) => manifestLine(sha256, key.slice(folder.length)))
      .join("");
  }
}

function isInManifest({ key, size, result, sha256 }: ReportRow): boolean {
  return sha256 !== undefined && result !== "changed" && !(size === 0 && key.endsWith("/"));
}

/** Whether a path is the name of one file for every tool: file systems fold empty, `.` and `..` segments. */
function isPlainPath(path: string): boolean {
  return !/(?:^|\/)(?:\.\.?)?(?:\/|$)/.test(path) && !path.includes("\0");
}

/** A report that a check writes into its bucket. */
interface ReportObject {
  readonly key: string;
  readonly type: string;
  /** Its text in chunks, the same at each call. */
  readonly text: () => AsyncIterable<string>;
}

/**
 * Writes a report, unless an earlier run of the check has. Its key has the id of the task, so it is no other object's.
 *
 * @returns the object's key, size in bytes and SHA-256
 * @throws HttpError 409 where another object is there; as {@link writeFromSource}
 */
export async function writeReport(source: ReadSource, bucket: string, report: ReportObject) {
  const { key } = report;
  let size = 0;
  const digest = startDigest("sha256");
  for await (const chunk of encoded(report)) {
    digest.update(chunk);
    size += chunk.length;
  }
  const written = { key, size, sha256: digest.hex() };
  try {
    await put(source, bucket, report, size, { "if-none-match": "*" });
  } catch (error) {
    const status = error instanceof HttpError ? error.status : null;
    // The store does not know the condition.
    if (status === 501) {
      await put(source, bucket, report, size, {});
      return written;
    }
    if (status !== 412 && status !== 409) throw error;
    const { receiver } = await readObject(source, { bucket, key }, null, () => startDigest("sha256"));
    if (receiver.hex() !== written.sha256) throw codedError(409, "not_written_exists", { keys: `'${key}'` });
  }
  return written;
}

async function put(
  { s3, caller }: ReadSource,
  bucket: string,
  report: ReportObject,
  lengthBytes: number,
  conditions: Record<string, string>,
): Promise<void> {
  const headers = { "content-type": report.type, ...conditions };
  const source = readerSource(chunksReader(encoded(report)));
  await writeFromSource(s3, caller, { bucket, key: report.key }, { headers, lengthBytes, source });
}

async function* encoded({ text }: ReportObject): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const chunk of text()) if (chunk !== "") yield encoder.encode(chunk);
}
