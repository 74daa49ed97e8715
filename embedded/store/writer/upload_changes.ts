import { createHash } from "node:crypto";
import type {
  CompletedPart,
  ObjectSettings,
  StoredBody,
  StoredPart,
  StoredParts,
  UploadName,
  VersionId,
  Versioning,
  WriteCondition,
} from "@/embedded/store/changes.ts";
import { type ChecksumType, DEFAULT_CHECKSUM, objectChecksum } from "@/embedded/store/part_checksums.ts";
import type { Cell, Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { versionIdOf } from "@/embedded/store/stored_objects.ts";
import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { discardStored, putVersion, requireUser, storeBody } from "./object_changes.ts";
import { countHoldings, countParts, countUploads, countUse, withinQuota } from "./usage_changes.ts";

/** Smallest part but the last, in bytes: 5 MiB (S3 API, multipart upload limits). */
const MIN_PART_BYTES = 5 * 1024 * 1024;

const MS_PER_DAY = 24 * 60 * 60 * 1000;

/** How many uploads expire in one change: each may have 10,000 parts, and others wait for the commit. */
const EXPIRE_LIMIT = 4;

/** A row of `uploads`. */
type UploadRow = Record<string, Cell> & {
  readonly owner: number | null;
  readonly content_type: string;
  readonly headers: string | null;
  readonly tags: string | null;
  readonly acl: string | null;
  readonly checksum_algorithm: DigestAlgorithm | null;
  readonly checksum_type: ChecksumType | null;
};

/** A row of `parts`. */
interface PartRow {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly body: number | null;
  readonly file: string | null;
}

/** A part with its checksums in base64 by their algorithm. */
type Part = PartRow & { readonly checksums: Readonly<Record<string, string>> };

/**
 * Starts an upload.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied when its owner was deleted meanwhile
 */
function createUpload(
  index: Statements,
  { upload, contentType, checksumAlgorithm, checksumType, atMs, ...columns }:
    & UploadName
    & ObjectSettings
    & { checksumAlgorithm: string | null; checksumType: string | null; atMs: number },
): void {
  if (!index.row("SELECT 1 FROM buckets WHERE id = ?", columns.bucket)) throw new StoreError("NoSuchBucket");
  requireUser(index, columns.owner);
  const checksum = { checksum_algorithm: checksumAlgorithm, checksum_type: checksumType };
  index.insert("uploads", { id: upload, content_type: contentType, started_ms: atMs, ...checksum, ...columns });
  countUploads(index, columns.bucket, 1, 0);
  countUse(index, { bucket: columns.bucket, atMs });
}

/**
 * Adds a part, or replaces an earlier one of its number.
 *
 * @throws {StoreError} NoSuchUpload, or QuotaExceeded: parts count before they are an object
 */
function putPart(
  index: Statements,
  { bucket, key, body, atMs, ...columns }: UploadName & {
    number: number;
    body: StoredBody;
    size: number;
    etag: string;
    /** JSON: digests in base64 by their algorithm. */
    checksums: string | null;
    atMs: number;
  },
): void {
  const { upload, number, size } = columns;
  requireUpload(index, { bucket, key, upload });
  withinQuota(index, bucket, size, () => {
    const select = "SELECT * FROM parts WHERE upload = ? AND number = ?";
    const earlier = index.record<PartRow>(select, upload, number);
    if (earlier) discardStored(index, earlier);
    else countUploads(index, bucket, 0, 1);
    countParts(index, bucket, size - (earlier?.size ?? 0));
    const row = { ...columns, modified_ms: atMs, ...storeBody(index, body) };
    index.insert("parts", row, "INSERT OR REPLACE");
  });
  countUse(index, { bucket, atMs }, { bytesIn: size, writes: 1 });
}

/**
 * Creates the object of an upload from the named parts, without touching their bytes, and discards the others.
 * Repeated, it returns the same result while the object exists; `written` is null then.
 *
 * @throws {StoreError} NoSuchUpload, InvalidPart, EntityTooSmall, InvalidRequest for another size or type of checksum,
 *   BadDigest, and those of a put
 */
function completeUpload(
  index: Statements,
  input: UploadName & {
    /** In ascending order. */
    parts: readonly CompletedPart[];
    /** Stated digests (base64, by algorithm) and size of the whole object. */
    checksums: Readonly<Record<string, string>>;
    size: number | null;
    by: number;
    condition: WriteCondition | null;
    atMs: number;
  },
): {
  version: VersionId;
  etag: string;
  checksums: Record<string, string> | null;
  written: { size: number; replaced: boolean } | null;
} {
  const { bucket, key, condition, atMs } = input;
  const etag = etagOf(input.parts);
  const select = "SELECT * FROM uploads WHERE id = ? AND bucket = ? AND key = ?";
  const upload = index.record<UploadRow>(select, input.upload, bucket, key);
  if (!upload) return completedBefore(index, input, etag);
  requireUser(index, input.by);
  const all = partsOf(index, input.upload);
  const parts = namedParts(all, input.parts);
  if (parts.slice(0, -1).some(({ size }) => size < MIN_PART_BYTES)) throw new StoreError("EntityTooSmall");
  const size = sizeOf(parts);
  if (input.size !== null && input.size !== size) throw new StoreError("InvalidRequest");
  const algorithm = upload.checksum_algorithm ?? defaultAlgorithm(parts);
  const type = upload.checksum_algorithm ? upload.checksum_type ?? "COMPOSITE" : "FULL_OBJECT";
  const checksums = algorithm && joinedChecksums(algorithm, type, parts);
  requireChecksums(input.checksums, checksums, parts.length);

  // All parts leave their count here, and the object enters its own below: the sum only shrinks, so no quota is
  // checked.
  countParts(index, bucket, -sizeOf(all));
  countUploads(index, bucket, -1, -all.length);
  const used = new Set(parts);
  for (const part of all) if (!used.has(part)) discardStored(index, part);
  removeRows(index, input.upload);
  const record: StoredParts = { upload: input.upload, parts: parts.map((part) => storedPart(part, algorithm)) };
  const { version, seq, replaced } = putVersion(index, {
    bucket,
    key,
    size,
    etag,
    contentType: upload.content_type,
    headers: upload.headers,
    checksums: checksums && JSON.stringify(checksums),
    tags: upload.tags,
    acl: upload.acl,
    // The user who started it may have been deleted; the object then has no owner.
    owner: index.row("SELECT 1 FROM users WHERE id = ?", upload.owner) ? upload.owner : null,
    condition,
    atMs,
  }, { body: null, file: null, parts: JSON.stringify(record) });
  for (const { file } of parts) if (file !== null) index.insert("part_bodies", { file, bucket, key, seq });
  countUse(index, input, { writes: 1 });
  return { version, etag, checksums, written: { size, replaced } };
}

/**
 * Discards an upload and its parts.
 *
 * @throws {StoreError} NoSuchUpload
 */
function abortUpload(index: Statements, input: UploadName & { atMs: number }): void {
  requireUpload(index, input);
  discardUpload(index, input.upload, input.bucket);
  countUse(index, input);
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
function expireUploads(index: Statements, { atMs }: { atMs: number }): { expired: number } {
  const rows = index.rows(
    `SELECT uploads.id, bucket FROM uploads JOIN buckets ON buckets.id = uploads.bucket
     WHERE json_extract(record, '$.multipartUploadAutoAbortDays') > 0
     AND started_ms + json_extract(record, '$.multipartUploadAutoAbortDays') * ${MS_PER_DAY} <= ? LIMIT ${EXPIRE_LIMIT}`,
    atMs,
  );
  for (const [id, bucket] of rows) discardUpload(index, String(id), Number(bucket));
  if (rows.length > 0) countHoldings(index, atMs);
  return { expired: rows.length };
}

/**
 * The parts that CompleteMultipartUpload names. Each must be the one that was uploaded, by its ETag and by every stated
 * checksum.
 */
function namedParts(stored: readonly Part[], named: readonly CompletedPart[]): Part[] {
  const byNumber = new Map(stored.map((part) => [part.number, part]));
  return named.map(({ number, etag, checksums }) => {
    const part = byNumber.get(number);
    const isOther = ([algorithm, value]: [string, string]) => part?.checksums[algorithm] !== value;
    if (part?.etag !== etag || Object.entries(checksums).some(isOther)) throw new StoreError("InvalidPart");
    return part;
  });
}

function sizeOf(parts: readonly PartRow[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

function partsOf(index: Statements, upload: string): Part[] {
  return index.records<PartRow & { checksums: string | null }>("SELECT * FROM parts WHERE upload = ?", upload)
    .map((row) => ({ ...row, checksums: row.checksums === null ? {} : JSON.parse(row.checksums) }));
}

function storedPart({ file, body, size, checksums }: Part, algorithm: DigestAlgorithm | null): StoredPart {
  const checksum = algorithm && checksums[algorithm];
  return { ...(file === null ? { body: body ?? 0 } : { file }), size, ...(checksum ? { checksum } : {}) };
}

/** The checksum where none is requested; null where parts that an older version received have none. */
function defaultAlgorithm(parts: readonly Part[]): DigestAlgorithm | null {
  return parts.every(({ checksums }) => DEFAULT_CHECKSUM in checksums) ? DEFAULT_CHECKSUM : null;
}

function joinedChecksums(
  algorithm: DigestAlgorithm,
  type: ChecksumType,
  parts: readonly Part[],
): Record<string, string> {
  const checksums = parts.map((part) => {
    const checksum = part.checksums[algorithm];
    if (checksum === undefined) throw new StoreError("InvalidPart");
    return { checksum, size: part.size };
  });
  return { [algorithm]: objectChecksum(algorithm, type, checksums), type };
}

/** @throws {StoreError} InvalidRequest or BadDigest where the stated checksums of an object are not its own */
function requireChecksums(
  { type, ...stated }: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>> | null,
  parts: number,
): void {
  if (own && type && type !== own.type) throw new StoreError("InvalidRequest");
  if (!own && type) throw new StoreError("BadDigest");
  for (const [name, value] of Object.entries(stated)) {
    // Clients state a composite checksum with or without the number of its parts.
    if (own?.[name] !== value && own?.[name] !== `${value}-${parts}`) throw new StoreError("BadDigest");
  }
}

/** The ETag of an object in parts: the MD5 of their MD5s, and their number. */
function etagOf(parts: readonly CompletedPart[]): string {
  const digest = createHash("md5");
  for (const { etag } of parts) digest.update(etag, "hex");
  return `${digest.digest("hex")}-${parts.length}`;
}

function completedBefore(
  index: Statements,
  { bucket, key, upload }: UploadName,
  etag: string,
): ReturnType<typeof completeUpload> {
  for (const table of ["objects", "history"]) {
    const select = `SELECT versioning, seq, is_null, checksums FROM ${table} AS version
      JOIN buckets ON buckets.id = version.bucket
      WHERE version.bucket = ? AND key = ? AND etag = ? AND json_extract(parts, '$.upload') = ?`;
    const row = index.row(select, bucket, key, etag, upload);
    if (!row) continue;
    const [versioning, seq, isNull, checksums] = row;
    const version = versionIdOf(seq, isNull, versioning as Versioning);
    return { version, etag, checksums: checksums === null ? null : JSON.parse(String(checksums)), written: null };
  }
  throw new StoreError("NoSuchUpload");
}

function discardUpload(index: Statements, upload: string, bucket: number): void {
  const parts = index.records<PartRow>("SELECT * FROM parts WHERE upload = ?", upload);
  for (const part of parts) discardStored(index, part);
  countParts(index, bucket, -sizeOf(parts));
  countUploads(index, bucket, -1, -parts.length);
  removeRows(index, upload);
}

function removeRows(index: Statements, upload: string): void {
  index.run("DELETE FROM parts WHERE upload = ?", upload);
  index.run("DELETE FROM uploads WHERE id = ?", upload);
}

function requireUpload(index: Statements, { bucket, key, upload }: UploadName): void {
  const row = index.row("SELECT 1 FROM uploads WHERE id = ? AND bucket = ? AND key = ?", upload, bucket, key);
  if (!row) throw new StoreError("NoSuchUpload");
}

/** The changes of uploads in parts. */
export const uploadChanges = { createUpload, putPart, completeUpload, abortUpload, expireUploads };
