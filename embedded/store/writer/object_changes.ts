import type { Input, Result, StoredParts, VersionId, Versioning } from "@/embedded/store/changes.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "@/embedded/store/statements.ts";
import { type BucketRules, bucketRules } from "./bucket_rules.ts";
import { StoredCounts, withinQuota } from "./usage_counters.ts";

/** Version ids are microseconds, raised by one where a key is written faster than the clock moves. */
const SEQ_PER_MS = 1000;

/** How many old versions of a key a write removes where none are retained; the maintenance removes the rest. */
const PRUNED_WITH_A_WRITE = 16;

const COLUMNS =
  "seq, is_null, size, etag, modified_ms, content_type, headers, owner, body, file, checksums, tags, acl, parts";
const PLACEHOLDERS = COLUMNS.replace(/\w+/g, "?");

/**
 * Writes an object by the versioning rules of its bucket.
 *
 * @throws {StoreError} NoSuchBucket, NoSuchKey, ConditionFailed, OverwriteForbidden, QuotaExceeded, or AccessDenied
 *   when the writer was deleted meanwhile
 */
export function putObject(index: Statements, input: Input<"putObject">): Result<"putObject"> {
  const body = "data" in input.body ? insertBody(index, input.body.data) : null;
  const file = "file" in input.body ? input.body.file : null;
  return withinQuota(index, input.bucket, input.size, () => {
    const { version, replaced } = putVersion(index, input, { body, file, parts: null });
    return { version, replaced };
  });
}

/**
 * Stores a small body.
 *
 * @returns its row
 */
export function insertBody(index: Statements, data: Uint8Array): number {
  return index.run("INSERT INTO bodies (data) VALUES (?)", data).id;
}

/**
 * Writes a version whose body is stored already, without a check of the quota.
 *
 * @throws {StoreError} as {@link putObject} does, but for the quota
 */
export function putVersion(
  index: Statements,
  input: Omit<Input<"putObject">, "body">,
  location: { body: number | null; file: string | null; parts: string | null },
): { version: VersionId; seq: number; replaced: boolean } {
  const { bucket, key, condition } = input;
  const rules = bucketRules(index, bucket);
  const { versioning } = rules;
  if (input.owner !== null && !index.row("SELECT 1 FROM users WHERE id = ?", input.owner)) {
    throw new StoreError("AccessDenied");
  }
  const current = currentVersion(index, bucket, key);
  if (condition && "absent" in condition && current) throw new StoreError("ConditionFailed");
  if (condition && "otherThan" in condition && current?.etag === condition.otherThan) {
    throw new StoreError("ConditionFailed");
  }
  if (condition && "etag" in condition) {
    if (!current) throw new StoreError("NoSuchKey");
    if (condition.etag !== "*" && current.etag !== condition.etag) throw new StoreError("ConditionFailed");
  }
  if (current && versioning !== "enabled" && !rules.allowsOverwrite) throw new StoreError("OverwriteForbidden");
  const seq = nextSeq(index, bucket, key, current, input.atMs);
  const counts = new StoredCounts();
  archiveCurrent(index, bucket, key, current, rules, input.atMs, counts);
  index.run(
    `INSERT OR REPLACE INTO objects (bucket, key, ${COLUMNS}) VALUES (?, ?, ${PLACEHOLDERS})`,
    bucket,
    key,
    seq,
    versioning === "enabled" ? 0 : 1,
    input.size,
    input.etag,
    input.atMs,
    input.contentType,
    input.headers,
    input.owner,
    location.body,
    location.file,
    input.checksums,
    input.tags,
    input.acl,
    location.parts,
  );
  counts.add(1, input.size, location.parts === null ? null : (JSON.parse(location.parts) as StoredParts).parts.length);
  counts.write(index, bucket);
  return { version: versionId(versioning, seq), seq, replaced: current !== null };
}

/**
 * Deletes a key or one version of it. Deleting what is not there is no error, as in S3.
 *
 * @throws {StoreError} with a requested ETag: ConditionFailed when the present version has another one; NoSuchKey or
 *   NoSuchVersion when there is none, or a delete marker
 */
export function deleteObject(
  index: Statements,
  input: Input<"deleteObject">,
): Result<"deleteObject"> {
  const removed = new StoredCounts();
  const result = deleteOne(index, input, bucketRules(index, input.bucket), removed);
  removed.write(index, input.bucket);
  return result;
}

/**
 * Deletes several keys or versions of one bucket as {@link deleteObject} does, with one look at the bucket's rules and
 * one update of its counts.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function deleteObjects(
  index: Statements,
  { bucket, objects, atMs }: Input<"deleteObjects">,
): Result<"deleteObjects"> {
  const rules = bucketRules(index, bucket);
  const removed = new StoredCounts();
  const outcomes = objects.map((object) => {
    try {
      return deleteOne(index, { bucket, atMs, ...object }, rules, removed);
    } catch (error) {
      // The rules are checked before anything is changed; any other error undoes the whole change.
      if (error instanceof StoreError) return { error: error.code };
      throw error;
    }
  });
  removed.write(index, bucket);
  return { outcomes };
}

function deleteOne(
  index: Statements,
  input: Input<"deleteObject">,
  rules: BucketRules,
  removed: StoredCounts,
): Result<"deleteObject"> {
  const { ifMatch = null, version } = input;
  if (ifMatch !== null) {
    const present = presentEtag(index, input);
    if (present === null) throw new StoreError(version === null ? "NoSuchKey" : "NoSuchVersion");
    if (ifMatch !== "*" && present !== ifMatch) throw new StoreError("ConditionFailed");
  }
  if (version !== null) return deleteVersion(index, input, version, rules, removed);
  return rules.versioning === "off"
    ? deleteUnversioned(index, input, removed)
    : deleteKey(index, input, rules, removed);
}

function deleteUnversioned(
  index: Statements,
  { bucket, key }: Input<"deleteObject">,
  removed: StoredCounts,
): Result<"deleteObject"> {
  const [row] = index.rows(
    "DELETE FROM objects WHERE bucket = ? AND key = ? RETURNING size, body, file, parts",
    bucket,
    key,
  );
  if (row) {
    const [size, body, file, parts] = row;
    const stored = { size: Number(size), body: numberOrNull(body), file: textOrNull(file), parts: textOrNull(parts) };
    discardBody(index, stored, removed);
  }
  return { version: null, isMarker: false, wasAbsent: !row };
}

/** The ETag of the version that a delete names; null where there is none, or a marker. */
function presentEtag(index: Statements, { bucket, key, version }: Input<"deleteObject">): string | null {
  const current = currentVersion(index, bucket, key);
  if (version === null) return current?.etag ?? null;
  const wanted = parseVersionId(version);
  if (current && names(wanted, current)) return current.etag;
  const row = index.row(
    `SELECT etag FROM history WHERE bucket = ? AND key = ? AND is_marker = 0
     AND ${wanted === "null" ? "is_null = 1 AND ? IS NOT NULL" : "is_null = 0 AND seq = ?"}`,
    bucket,
    key,
    wanted,
  );
  return row ? String(row[0]) : null;
}

function deleteKey(
  index: Statements,
  { bucket, key, atMs }: Input<"deleteObject">,
  rules: BucketRules,
  removed: StoredCounts,
): Result<"deleteObject"> {
  const { versioning } = rules;
  const current = currentVersion(index, bucket, key);
  // As in S3, a key that is absent or hidden by a marker gets a marker all the same, where markers are used.
  if (!current && !rules.useDeleteMarkers) return { version: null, isMarker: false, wasAbsent: true };
  const seq = nextSeq(index, bucket, key, current, atMs);
  archiveCurrent(index, bucket, key, current, rules, atMs, removed);
  index.run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, key);
  if (!rules.useDeleteMarkers) {
    if (rules.keepDeletionRecords) addDeletionRecord(index, bucket, key, seq, atMs);
    return { version: null, isMarker: false, wasAbsent: false };
  }
  index.run(
    `INSERT INTO history (bucket, key, seq, is_null, is_marker, size, etag, modified_ms, content_type)
     VALUES (?, ?, ?, ?, 1, 0, '', ?, '')`,
    bucket,
    key,
    seq,
    versioning === "enabled" ? 0 : 1,
    atMs,
  );
  return { version: versionId(versioning, seq), isMarker: true, wasAbsent: current === null };
}

function deleteVersion(
  index: Statements,
  { bucket, key, atMs }: Input<"deleteObject">,
  version: string,
  { versioning, keepDeletionRecords }: BucketRules,
  removed: StoredCounts,
): Result<"deleteObject"> {
  const addsRecord = versioning !== "off" && keepDeletionRecords;
  const wanted = parseVersionId(version);
  const current = currentVersion(index, bucket, key);
  if (current && names(wanted, current)) {
    index.run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, key);
    discardBody(index, current, removed);
    promoteNewest(index, bucket, key);
    if (addsRecord) addDeletionRecord(index, bucket, key, current.seq, atMs);
    return { version, isMarker: false, wasAbsent: false };
  }
  const select = `SELECT old_ms, is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ?`;
  const row = wanted === "null" ? index.row(`${select} AND is_null = 1`, bucket, key) : index.row(
    `${select} AND seq = ? AND is_null = 0`,
    bucket,
    key,
    wanted,
  );
  if (!row) return { version, isMarker: false, wasAbsent: true };
  const old = versionRow(row.slice(2));
  const isMarker = row[1] === 1;
  const wasNewest = row[0] === null;
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, old.seq);
  if (!isMarker) discardBody(index, old, removed);
  if (wasNewest) promoteNewest(index, bucket, key);
  if (addsRecord) addDeletionRecord(index, bucket, key, old.seq, atMs);
  return { version, isMarker, wasAbsent: false };
}

interface VersionRow {
  seq: number;
  isNull: boolean;
  size: number;
  etag: string;
  body: number | null;
  file: string | null;
  /** JSON of {@link StoredParts}. */
  parts: string | null;
  /** The cells of COLUMNS in their order. */
  cells: Cell[];
}

function versionRow(cells: Cell[]): VersionRow {
  return {
    seq: Number(cells[0]),
    isNull: cells[1] === 1,
    size: Number(cells[2]),
    etag: String(cells[3]),
    body: numberOrNull(cells[8]),
    file: textOrNull(cells[9]),
    parts: textOrNull(cells[13]),
    cells,
  };
}

function currentVersion(index: Statements, bucket: number, key: Uint8Array): VersionRow | null {
  const row = index.row(`SELECT ${COLUMNS} FROM objects WHERE bucket = ? AND key = ?`, bucket, key);
  return row && versionRow(row);
}

/** Prepares for a new version: the present one becomes history, or is removed where the new one replaces it. */
function archiveCurrent(
  index: Statements,
  bucket: number,
  key: Uint8Array,
  current: VersionRow | null,
  { versioning, prunesAtOnce }: BucketRules,
  atMs: number,
  counts: StoredCounts,
): void {
  if (current?.isNull && versioning !== "enabled") {
    // A key has one null version at most: where the present one is it, a long history is not searched for another.
    discardBody(index, current, counts);
  } else {
    if (current) moveToHistory(index, bucket, key, current, atMs);
    else if (versioning !== "off") {
      index.run(
        `UPDATE history SET old_ms = ?1 WHERE bucket = ?2 AND key = ?3 AND old_ms IS NULL
         AND seq = (SELECT seq FROM history WHERE bucket = ?2 AND key = ?3 ORDER BY seq DESC LIMIT 1)`,
        atMs,
        bucket,
        key,
      );
    }
    if (versioning === "suspended") deleteNullVersion(index, bucket, key, counts);
  }
  if (prunesAtOnce) {
    const older = "SELECT key, seq, is_marker FROM history WHERE bucket = ? AND key = ? AND old_ms IS NOT NULL";
    deleteOldVersions(index, bucket, index.rows(`${older} LIMIT ${PRUNED_WITH_A_WRITE}`, bucket, key), counts);
  }
}

/** Removes the null version from the history: a new null version replaces it. */
function deleteNullVersion(index: Statements, bucket: number, key: Uint8Array, removed: StoredCounts): void {
  const row = index.row(
    `SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? AND is_null = 1`,
    bucket,
    key,
  );
  if (!row) return;
  const old = versionRow(row.slice(1));
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, old.seq);
  if (row[0] === 0) discardBody(index, old, removed);
}

function moveToHistory(
  index: Statements,
  bucket: number,
  key: Uint8Array,
  version: VersionRow,
  atMs: number,
): void {
  index.run(
    `INSERT INTO history (bucket, key, is_marker, old_ms, ${COLUMNS}) VALUES (?, ?, 0, ?, ${PLACEHOLDERS})`,
    bucket,
    key,
    atMs,
    ...version.cells,
  );
}

/**
 * Removes old versions and markers for good, named by their key, number and whether they are markers.
 *
 * @returns how many parts their bodies had
 */
export function deleteOldVersions(
  index: Statements,
  bucket: number,
  rows: readonly Cell[][],
  removed: StoredCounts,
): number {
  let parts = 0;
  for (const [key, seq, isMarker] of rows) {
    if (isMarker === 0) {
      const cells = index.row(
        `SELECT ${COLUMNS} FROM history WHERE bucket = ? AND key = ? AND seq = ?`,
        bucket,
        key,
        seq,
      );
      if (!cells) continue;
      const old = versionRow(cells);
      parts += old.parts === null ? 0 : (JSON.parse(old.parts) as StoredParts).parts.length;
      discardBody(index, old, removed);
    }
    parts++;
    index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, seq);
  }
  return parts;
}

/** The newest old version becomes the current one; a marker is the newest of its key again. */
function promoteNewest(index: Statements, bucket: number, key: Uint8Array): void {
  const row = index.row(
    `SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1`,
    bucket,
    key,
  );
  if (!row) return;
  const cells = row.slice(1);
  if (row[0] === 1) {
    index.run("UPDATE history SET old_ms = NULL WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, cells[0]);
    return;
  }
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, cells[0]);
  index.run(
    `INSERT INTO objects (bucket, key, ${COLUMNS}) VALUES (?, ?, ${PLACEHOLDERS})`,
    bucket,
    key,
    ...cells,
  );
}

/** Discards the body of a version that no row names. */
function discardBody(
  index: Statements,
  { size, body, file, parts }: Pick<VersionRow, "size" | "body" | "file" | "parts">,
  removed: StoredCounts,
): void {
  if (body !== null) index.run("DELETE FROM bodies WHERE id = ?", body);
  if (file !== null) index.run("INSERT OR IGNORE INTO garbage (file) VALUES (?)", file);
  const stored: StoredParts | null = parts === null ? null : JSON.parse(parts);
  if (stored) discardParts(index, stored);
  removed.add(-1, size, stored && stored.parts.length);
}

/** Adds a record of a deletion, which remains until the bucket's settings allow its removal. */
function addDeletionRecord(index: Statements, bucket: number, key: Uint8Array, seq: number, atMs: number): void {
  index.run(
    "INSERT OR REPLACE INTO deletion_records (bucket, key, seq, deleted_ms) VALUES (?, ?, ?, ?)",
    bucket,
    key,
    seq,
    atMs,
  );
}

function discardParts(index: Statements, { parts }: StoredParts): void {
  for (const part of parts) {
    if ("file" in part) {
      index.run("DELETE FROM part_bodies WHERE file = ?", part.file);
      index.run("INSERT OR IGNORE INTO garbage (file) VALUES (?)", part.file);
    } else {
      index.run("DELETE FROM bodies WHERE id = ?", part.body);
    }
  }
}

function nextSeq(
  index: Statements,
  bucket: number,
  key: Uint8Array,
  current: VersionRow | null,
  atMs: number,
): number {
  const row = index.row(
    "SELECT seq FROM history WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1",
    bucket,
    key,
  );
  const newest = Math.max(current?.seq ?? 0, row ? Number(row[0]) : 0);
  const seq = Math.max(newest + 1, atMs * SEQ_PER_MS, (lastSeqs.get(index) ?? 0) + 1);
  lastSeqs.set(index, seq);
  return seq;
}

/**
 * The newest number that each writer used. Deleting a version by its id removes its number from the index: the next one
 * of the same millisecond, or after a clock that was set back, must not reuse it, or a repeated delete would remove
 * that one.
 */
const lastSeqs = new WeakMap<Statements, number>();

function versionId(versioning: Versioning, seq: number): VersionId {
  if (versioning === "off") return null;
  return versioning === "enabled" ? String(seq) : "null";
}

/** A version id as the index stores it; an impossible id becomes a number that no version has. */
function parseVersionId(version: string): number | "null" {
  if (version === "null") return "null";
  return /^[1-9][0-9]{0,15}$/.test(version) ? Number(version) : -1;
}

function names(wanted: number | "null", version: VersionRow): boolean {
  return wanted === "null" ? version.isNull : !version.isNull && version.seq === wanted;
}
