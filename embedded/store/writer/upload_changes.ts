import { createHash } from "node:crypto";
import type { CompletedPart, Input, Result, StoredPart, StoredParts, UploadName } from "@/embedded/store/changes.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { type ChecksumType, DEFAULT_CHECKSUM, objectChecksum } from "@/embedded/store/part_checksums.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "@/embedded/store/statements.ts";
import { insertBody, putVersion } from "./object_changes.ts";
import { countParts, countUploads, withinQuota } from "./usage_counters.ts";

/** Smallest part but the last, in bytes: 5 MiB (S3 API, multipart upload limits). */
const MIN_PART_BYTES = 5 * 1024 * 1024;

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** How many uploads expire in one change: each may have 10,000 parts, and others wait for the commit. */
const EXPIRE_LIMIT = 4;

/**
 * Starts an upload.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied when its owner was deleted meanwhile
 */
export function createUpload(index: Statements, input: Input<"createUpload">): null {
  if (!index.row("SELECT 1 FROM buckets WHERE id = ?", input.bucket)) throw new StoreError("NoSuchBucket");
  requireUser(index, input.owner);
  index.insert("uploads", {
    id: input.upload,
    bucket: input.bucket,
    key: input.key,
    owner: input.owner,
    content_type: input.contentType,
    headers: input.headers,
    tags: input.tags,
    acl: input.acl,
    checksum_algorithm: input.checksumAlgorithm,
    checksum_type: input.checksumType,
    started_ms: input.atMs,
  });
  countUploads(index, input.bucket, 1, 0);
  return null;
}

/**
 * Adds a part, or replaces an earlier one of its number.
 *
 * @throws {StoreError} NoSuchUpload, or QuotaExceeded: parts count before they are an object
 */
export function putPart(index: Statements, input: Input<"putPart">): null {
  requireUpload(index, input);
  return withinQuota(index, input.bucket, input.size, () => addPart(index, input));
}

function addPart(index: Statements, input: Input<"putPart">): null {
  const earlier = index.row(
    "SELECT body, file, size FROM parts WHERE upload = ? AND number = ?",
    input.upload,
    input.number,
  );
  if (earlier) discardPart(index, earlier);
  else countUploads(index, input.bucket, 0, 1);
  countParts(index, input.bucket, input.size - Number(earlier?.[2] ?? 0));
  index.run(
    `INSERT OR REPLACE INTO parts (upload, number, size, etag, checksums, modified_ms, body, file)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    input.upload,
    input.number,
    input.size,
    input.etag,
    input.checksums,
    input.atMs,
    "data" in input.body ? insertBody(index, input.body.data) : null,
    "file" in input.body ? input.body.file : null,
  );
  return null;
}

/**
 * Creates the object of an upload from the named parts, without touching their bytes, and discards the others.
 * Repeated, it returns the same result while the object exists.
 *
 * @throws {StoreError} NoSuchUpload, InvalidPart, EntityTooSmall, SizeMismatch, TypeMismatch, BadDigest, and those of a
 *   put
 */
export function completeUpload(
  index: Statements,
  input: Input<"completeUpload">,
): Result<"completeUpload"> {
  const etag = etagOf(input.parts);
  const upload = index.row(
    `SELECT owner, content_type, headers, tags, acl, checksum_algorithm, checksum_type FROM uploads
     WHERE id = ? AND bucket = ? AND key = ?`,
    input.upload,
    input.bucket,
    input.key,
  );
  if (!upload) return completedBefore(index, input, etag);
  requireUser(index, input.by);
  const [owner, contentType, headers, tags, acl, algorithm, type] = upload;
  const stored = new Map(
    index.rows("SELECT number, size, etag, checksums, body, file FROM parts WHERE upload = ?", input.upload)
      .map((cells) => [Number(cells[0]), partRow(cells)]),
  );
  const parts = input.parts.map((part) => namedPart(stored, part));
  if (parts.slice(0, -1).some(({ size }) => size < MIN_PART_BYTES)) throw new StoreError("EntityTooSmall");
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  if (input.size !== null && input.size !== size) throw new StoreError("SizeMismatch");
  const checksum = requestedChecksum(algorithm, type) ?? defaultChecksum(parts);
  const checksums = checksum && joinedChecksums(checksum, parts);
  if (checksums && input.checksums.type && input.checksums.type !== checksums.type) {
    throw new StoreError("TypeMismatch");
  }
  for (const [name, value] of Object.entries(input.checksums)) {
    // Clients state a composite checksum with or without the number of its parts.
    const isEqual = checksums?.[name] === value || checksums?.[name] === `${value}-${parts.length}`;
    if (!isEqual) throw new StoreError("BadDigest");
  }

  // All parts leave their count here, and the object enters its own below: the sum only shrinks, so no quota is
  // checked.
  countParts(index, input.bucket, -[...stored.values()].reduce((sum, part) => sum + part.size, 0));
  countUploads(index, input.bucket, -1, -stored.size);
  for (const { number } of parts) stored.delete(number);
  for (const unused of stored.values()) discardPart(index, [unused.body, unused.file]);
  index.run("DELETE FROM parts WHERE upload = ?", input.upload);
  index.run("DELETE FROM uploads WHERE id = ?", input.upload);
  const record: StoredParts = {
    upload: input.upload,
    parts: parts.map((part) => storedPart(part, checksum?.algorithm)),
  };
  const { version, seq, replaced } = putVersion(index, {
    bucket: input.bucket,
    key: input.key,
    size,
    etag,
    contentType: String(contentType),
    headers: textOrNull(headers),
    checksums: checksums && JSON.stringify(checksums),
    tags: textOrNull(tags),
    acl: textOrNull(acl),
    // The user who started it may have been deleted; the object then has no owner.
    owner: owner !== null && index.row("SELECT 1 FROM users WHERE id = ?", owner) ? Number(owner) : null,
    condition: input.condition,
    atMs: input.atMs,
  }, { body: null, file: null, parts: JSON.stringify(record) });
  const insert = "INSERT INTO part_bodies (file, bucket, key, seq) VALUES (?, ?, ?, ?)";
  for (const { file } of parts) if (file !== null) index.run(insert, file, input.bucket, input.key, seq);
  return { version, etag, checksums, written: { size, replaced } };
}

/**
 * Discards an upload and its parts.
 *
 * @throws {StoreError} NoSuchUpload
 */
export function abortUpload(index: Statements, input: Input<"abortUpload">): null {
  requireUpload(index, input);
  discardUpload(index, input.upload, input.bucket);
  return null;
}

/** Ends all uploads of a bucket and discards their parts, in a few statements however many there are. */
export function discardUploads(index: Statements, bucket: number): void {
  const counts = index.row(
    `SELECT (SELECT count(*) FROM uploads WHERE bucket = ?1), count(*), coalesce(sum(size), 0) FROM parts
     WHERE upload IN (SELECT id FROM uploads WHERE bucket = ?1)`,
    bucket,
  );
  const [uploads, parts, bytes] = (counts ?? [0, 0, 0]).map(Number);
  if (uploads === 0) return;
  const discarded = "FROM parts WHERE upload IN (SELECT id FROM uploads WHERE bucket = ?)";
  index.run(`DELETE FROM bodies WHERE id IN (SELECT body ${discarded} AND body IS NOT NULL)`, bucket);
  index.run(`INSERT OR IGNORE INTO garbage (file) SELECT file ${discarded} AND file IS NOT NULL`, bucket);
  index.run(`DELETE ${discarded}`, bucket);
  index.run("DELETE FROM uploads WHERE bucket = ?", bucket);
  countParts(index, bucket, -bytes);
  countUploads(index, bucket, -uploads, -parts);
}

/**
 * Discards uploads older than their bucket's `multipartUploadAutoAbortDays` (0: never), a few at a time: `expired` is 0
 * when none is left.
 */
export function expireUploads(
  index: Statements,
  { atMs }: Input<"expireUploads">,
): Result<"expireUploads"> {
  const rows = index.rows(
    `SELECT uploads.id, bucket FROM uploads JOIN buckets ON buckets.id = uploads.bucket
     WHERE json_extract(record, '$.multipartUploadAutoAbortDays') > 0
     AND started_ms + json_extract(record, '$.multipartUploadAutoAbortDays') * ${MS_PER_DAY} <= ? LIMIT ${EXPIRE_LIMIT}`,
    atMs,
  );
  for (const [id, bucket] of rows) discardUpload(index, String(id), Number(bucket));
  return { expired: rows.length };
}

interface PartRow {
  number: number;
  size: number;
  etag: string;
  checksums: Record<string, string>;
  body: number | null;
  file: string | null;
}

function partRow([number, size, etag, checksums, body, file]: Cell[]): PartRow {
  return {
    number: Number(number),
    size: Number(size),
    etag: String(etag),
    checksums: checksums === null ? {} : JSON.parse(String(checksums)),
    body: numberOrNull(body),
    file: textOrNull(file),
  };
}

/**
 * The part that CompleteMultipartUpload names. It must be the one that was uploaded, by its ETag and by every stated
 * checksum.
 */
function namedPart(stored: ReadonlyMap<number, PartRow>, named: CompletedPart): PartRow {
  const part = stored.get(named.number);
  if (!part || part.etag !== named.etag) throw new StoreError("InvalidPart");
  for (const [algorithm, value] of Object.entries(named.checksums)) {
    if (part.checksums[algorithm] !== value) throw new StoreError("InvalidPart");
  }
  return part;
}

function storedPart({ file, body, size, checksums }: PartRow, algorithm: DigestAlgorithm | undefined): StoredPart {
  const checksum = algorithm && checksums[algorithm];
  return { ...(file === null ? { body: body ?? 0 } : { file }), size, ...(checksum === undefined ? {} : { checksum }) };
}

/** The checksum of an object in parts: of what it is, and how it comes from those of the parts. */
interface JoinedChecksum {
  algorithm: DigestAlgorithm;
  type: ChecksumType;
}

function requestedChecksum(algorithm: Cell, type: Cell): JoinedChecksum | null {
  if (algorithm === null) return null;
  return { algorithm: algorithm as DigestAlgorithm, type: (type ?? "COMPOSITE") as ChecksumType };
}

/** The checksum where none is requested; null where parts that an older version received have none. */
function defaultChecksum(parts: readonly PartRow[]): JoinedChecksum | null {
  return parts.every(({ checksums }) => DEFAULT_CHECKSUM in checksums)
    ? { algorithm: DEFAULT_CHECKSUM, type: "FULL_OBJECT" }
    : null;
}

function joinedChecksums({ algorithm, type }: JoinedChecksum, parts: readonly PartRow[]): Record<string, string> {
  const checksums = parts.map((part) => {
    const checksum = part.checksums[algorithm];
    if (checksum === undefined) throw new StoreError("InvalidPart");
    return { checksum, size: part.size };
  });
  return { [algorithm]: objectChecksum(algorithm, type, checksums), type };
}

/** The ETag of an object in parts: the MD5 of their MD5s, and their number. */
function etagOf(parts: readonly CompletedPart[]): string {
  const digest = createHash("md5");
  for (const { etag } of parts) digest.update(etag, "hex");
  return `${digest.digest("hex")}-${parts.length}`;
}

function completedBefore(
  index: Statements,
  { bucket, key, upload }: Input<"completeUpload">,
  etag: string,
): Result<"completeUpload"> {
  for (const table of ["objects", "history"]) {
    const row = index.row(
      `SELECT versioning, seq, is_null, checksums FROM ${table} AS version JOIN buckets ON buckets.id = version.bucket
       WHERE version.bucket = ? AND key = ? AND etag = ? AND json_extract(parts, '$.upload') = ?`,
      bucket,
      key,
      etag,
      upload,
    );
    if (!row) continue;
    const [versioning, seq, isNull, checksums] = row;
    return {
      version: versioning === "off" ? null : isNull === 1 ? "null" : String(seq),
      etag,
      checksums: checksums === null ? null : JSON.parse(String(checksums)),
      written: null,
    };
  }
  throw new StoreError("NoSuchUpload");
}

function discardUpload(index: Statements, upload: string, bucket: number): void {
  const parts = index.rows("SELECT body, file, size FROM parts WHERE upload = ?", upload);
  for (const part of parts) discardPart(index, part);
  countParts(index, bucket, -parts.reduce((bytes, part) => bytes + Number(part[2]), 0));
  countUploads(index, bucket, -1, -parts.length);
  index.run("DELETE FROM parts WHERE upload = ?", upload);
  index.run("DELETE FROM uploads WHERE id = ?", upload);
}

function discardPart(index: Statements, [body, file]: Cell[]): void {
  if (body !== null) index.run("DELETE FROM bodies WHERE id = ?", body);
  if (file !== null) index.run("INSERT OR IGNORE INTO garbage (file) VALUES (?)", file);
}

function requireUpload(index: Statements, { bucket, key, upload }: UploadName): void {
  const row = index.row("SELECT 1 FROM uploads WHERE id = ? AND bucket = ? AND key = ?", upload, bucket, key);
  if (!row) throw new StoreError("NoSuchUpload");
}

function requireUser(index: Statements, user: number | null): void {
  if (user !== null && !index.row("SELECT 1 FROM users WHERE id = ?", user)) throw new StoreError("AccessDenied");
}
