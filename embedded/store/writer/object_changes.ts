import type {
  Deleted,
  DeleteOutcome,
  Deletion,
  NewObject,
  StoredBody,
  StoredParts,
  VersionId,
  Versioning,
} from "@/embedded/store/changes.ts";
import type { Cell, Statements } from "@/embedded/store/statements.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { versionSettings } from "@/embedded/store/stored_buckets.ts";
import { versionIdOf, versionNumber } from "@/embedded/store/stored_objects.ts";
import { countUse, StoredCounts, withinQuota } from "./usage_changes.ts";

/** Version ids are microseconds, raised by one where a key is written faster than the clock moves. */
const SEQ_PER_MS = 1000;

/** How many old versions of a key a write removes where none are retained; the maintenance removes the rest. */
const PRUNED_WITH_A_WRITE = 16;

/** Where the bytes of a version are: a row of `bodies`, a file, or parts as JSON of {@link StoredParts}. */
type Location = { body: number | null; file: string | null; parts: string | null };

/** A row of `objects` or `history`. */
export type Version = Record<string, Cell> & Location & {
  seq: number;
  is_null: number;
  size: number;
  etag: string;
  is_marker: number;
  /** Since when it is not the newest of its key; null while it is. */
  old_ms: number | null;
};

/** A key that is changed by the rules of its bucket. */
interface Place {
  readonly index: Statements;
  readonly bucket: number;
  readonly key: Uint8Array;
  readonly rules: ReturnType<typeof bucketRules>;
  readonly atMs: number;
  /** Usage that the change adds to the bucket and removes from it. */
  readonly counts: StoredCounts;
}

/**
 * Writes an object by the versioning rules of its bucket.
 *
 * @returns its version, and whether it replaced a current one
 * @throws {StoreError} NoSuchBucket, NoSuchKey, PreconditionFailed, OperationAborted where it must not be overwritten,
 *   QuotaExceeded, or AccessDenied when the writer was deleted meanwhile
 */
function putObject(
  index: Statements,
  { body, ...object }: NewObject & { body: StoredBody },
): { version: VersionId; seq: number; replaced: boolean } {
  const location = { ...storeBody(index, body), parts: null };
  const written = withinQuota(index, object.bucket, object.size, () => putVersion(index, object, location));
  countUse(index, object, { bytesIn: object.size, writes: 1 });
  return written;
}

/** Stores a body in the index, unless it is a file. */
export function storeBody(index: Statements, body: StoredBody): { body: number | null; file: string | null } {
  if ("file" in body) return { body: null, file: body.file };
  return { body: index.insert("bodies", { data: body.data }).id, file: null };
}

/** Discards a stored body that no row names. */
export function discardStored(index: Statements, { body, file }: { body: Cell; file: Cell }): void {
  if (body !== null) index.run("DELETE FROM bodies WHERE id = ?", body);
  if (file !== null) index.run("INSERT OR IGNORE INTO garbage (file) VALUES (?)", file);
}

/**
 * Writes a version whose body is stored already, without a check of the quota.
 *
 * @throws {StoreError} as {@link putObject} does, but for the quota
 */
export function putVersion(
  index: Statements,
  { bucket, key, condition, atMs, contentType, ...columns }: NewObject,
  location: Location,
): { version: VersionId; seq: number; replaced: boolean } {
  const rules = bucketRules(index, bucket);
  requireUser(index, columns.owner);
  const current = currentVersion(index, bucket, key);
  if (condition && "etag" in condition && !current) throw new StoreError("NoSuchKey");
  const holds = !condition ||
    ("absent" in condition
      ? !current
      : "otherThan" in condition
      ? current?.etag !== condition.otherThan
      : condition.etag === "*" || condition.etag === current?.etag);
  if (!holds) throw new StoreError("PreconditionFailed");
  if (current && rules.versioning !== "enabled" && !rules.allowsOverwrite) throw new StoreError("OperationAborted");
  const at = { index, bucket, key, rules, atMs, counts: new StoredCounts() };
  const seq = nextSeq(at, current);
  archiveCurrent(at, current);
  const is_null = rules.versioning === "enabled" ? 0 : 1;
  const row = { bucket, key, seq, is_null, modified_ms: atMs, content_type: contentType, ...columns, ...location };
  index.insert("objects", row, "INSERT OR REPLACE");
  at.counts.add(1, columns.size, partsOf(location)?.length ?? null);
  at.counts.write(index, bucket);
  return { version: versionIdOf(seq, is_null, rules.versioning), seq, replaced: current !== null };
}

/** @throws {StoreError} AccessDenied where the user of a write was deleted meanwhile; null is none */
export function requireUser(index: Statements, user: number | null): void {
  if (user !== null && !index.row("SELECT 1 FROM users WHERE id = ?", user)) throw new StoreError("AccessDenied");
}

/**
 * Deletes keys or versions of one bucket in their order. Deleting an absent key is no error, like in S3. One that fails
 * does not affect the others: with a requested ETag PreconditionFailed where the present version has another one, and
 * NoSuchKey or NoSuchVersion where there is none, or a delete marker.
 *
 * @throws {StoreError} NoSuchBucket
 */
function deleteObjects(
  index: Statements,
  { bucket, objects, atMs }: { bucket: number; objects: readonly Deletion[]; atMs: number },
): { outcomes: readonly DeleteOutcome[] } {
  const rules = bucketRules(index, bucket);
  const counts = new StoredCounts();
  const outcomes = objects.map((object): DeleteOutcome => {
    try {
      return deleteOne({ index, bucket, key: object.key, rules, atMs, counts }, object);
    } catch (error) {
      // The rules are checked before anything is changed; any other error undoes the whole change.
      if (error instanceof StoreError) return { error: error.code };
      throw error;
    }
  });
  counts.write(index, bucket);
  const deletes = outcomes.filter((outcome) => "isMarker" in outcome).length;
  if (deletes > 0) countUse(index, { bucket, atMs }, { deletes });
  return { outcomes };
}

function deleteOne(at: Place, { version, ifMatch = null }: Deletion): Deleted {
  const { index, bucket, key } = at;
  const found = version === null ? currentVersion(index, bucket, key) : namedVersion(index, bucket, key, version);
  if (ifMatch !== null) {
    if (!found || found.is_marker) throw new StoreError(version === null ? "NoSuchKey" : "NoSuchVersion");
    if (ifMatch !== "*" && found.etag !== ifMatch) throw new StoreError("PreconditionFailed");
  }
  return version === null ? deleteKey(at, found) : deleteVersion(at, found, version);
}

/** Deletes a key, by a marker where the bucket has versioning. */
function deleteKey(at: Place, current: Version | null): Deleted {
  const { index, bucket, key, atMs, rules: { versioning, useDeleteMarkers } } = at;
  const addsMarker = versioning !== "off" && useDeleteMarkers;
  // A key that is absent or hidden by a marker also gets a marker in a bucket with versions, like in S3.
  if (!current && !addsMarker) return { version: null, isMarker: false, wasAbsent: true };
  const seq = nextSeq(at, current);
  archiveCurrent(at, current);
  index.run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, key);
  if (!addsMarker) {
    addDeletionRecord(at, seq);
    return { version: null, isMarker: false, wasAbsent: false };
  }
  const is_null = versioning === "enabled" ? 0 : 1;
  const marker = { bucket, key, seq, is_null, is_marker: 1, size: 0, etag: "", modified_ms: atMs, content_type: "" };
  index.insert("history", marker);
  return { version: versionIdOf(seq, is_null, versioning), isMarker: true, wasAbsent: current === null };
}

/** Deletes one version of a key for good. */
function deleteVersion(at: Place, found: Version | null, version: string): Deleted {
  if (!found) return { version, isMarker: false, wasAbsent: true };
  removeRow(at, found.seq);
  if (!found.is_marker) discardBody(at.index, found, at.counts);
  if (found.old_ms === null) promoteNewest(at);
  addDeletionRecord(at, found.seq);
  return { version, isMarker: found.is_marker === 1, wasAbsent: false };
}

/**
 * Sets or removes the tags (JSON) of a key's current version, or of the one that is named.
 *
 * @throws {StoreError} NoSuchBucket, NoSuchKey, NoSuchVersion, or MethodNotAllowed for a marker
 */
function setTags(
  index: Statements,
  { bucket, key, version, tags }: { bucket: number; key: Uint8Array; version: string | null; tags: string | null },
): { version: VersionId } {
  const { versioning } = bucketRules(index, bucket);
  const found = version === null ? currentVersion(index, bucket, key) : namedVersion(index, bucket, key, version);
  if (!found) throw new StoreError(version === null ? "NoSuchKey" : "NoSuchVersion");
  if (found.is_marker) throw new StoreError("MethodNotAllowed");
  setColumn(index, "tags", tags, { bucket, key, seq: found.seq });
  return { version: version ?? versionIdOf(found.seq, found.is_null, versioning) };
}

/**
 * Sets or removes the access list (JSON) of a version, wherever it is by now.
 *
 * @throws {StoreError} NoSuchKey when it is gone
 */
function setObjectAcl(
  index: Statements,
  { acl, ...at }: { bucket: number; key: Uint8Array; seq: number; acl: string | null },
): void {
  if (!setColumn(index, "acl", acl, at)) throw new StoreError("NoSuchKey");
}

function setColumn(
  index: Statements,
  column: "tags" | "acl",
  value: string | null,
  { bucket, key, seq }: { bucket: number; key: Uint8Array; seq: number },
): boolean {
  return ["objects", "history"].some((table) => {
    const update = `UPDATE ${table} SET ${column} = ? WHERE bucket = ? AND key = ? AND seq = ?`;
    return index.run(update, value, bucket, key, seq).changes > 0;
  });
}

const CURRENT = "SELECT *, 0 AS is_marker, NULL AS old_ms FROM objects WHERE bucket = ? AND key = ?";

function currentVersion(index: Statements, bucket: number, key: Uint8Array): Version | null {
  return index.record<Version>(CURRENT, bucket, key);
}

/** A version by its id, current or old; null where there is none. */
function namedVersion(index: Statements, bucket: number, key: Uint8Array, version: string): Version | null {
  const which = version === "null" ? "is_null = 1" : "is_null = 0 AND seq = ?";
  const named: Cell[] = version === "null" ? [bucket, key] : [bucket, key, versionNumber(version)];
  return index.record<Version>(`${CURRENT} AND ${which}`, ...named) ??
    index.record<Version>(`SELECT * FROM history WHERE bucket = ? AND key = ? AND ${which}`, ...named);
}

/** Prepares for a new version: the present one becomes history, or is removed where the new one replaces it. */
function archiveCurrent({ index, bucket, key, rules, atMs, counts }: Place, current: Version | null): void {
  const { versioning } = rules;
  if (current?.is_null && versioning !== "enabled") {
    // A key has one null version at most: where the present one is it, a long history is not searched for another.
    discardBody(index, current, counts);
  } else {
    if (current) index.insert("history", { ...current, old_ms: atMs });
    else if (versioning !== "off") {
      const newest = "SELECT seq FROM history WHERE bucket = ?2 AND key = ?3 ORDER BY seq DESC LIMIT 1";
      const set = "UPDATE history SET old_ms = ?1 WHERE bucket = ?2 AND key = ?3 AND old_ms IS NULL";
      index.run(`${set} AND seq = (${newest})`, atMs, bucket, key);
    }
    if (versioning === "suspended") {
      const nulls = "SELECT * FROM history WHERE bucket = ? AND key = ? AND is_null = 1";
      deleteOldVersions(index, index.records<Version>(nulls, bucket, key), counts);
    }
  }
  if (rules.prunesAtOnce) {
    const older = "SELECT * FROM history WHERE bucket = ? AND key = ? AND old_ms IS NOT NULL";
    const some = index.records<Version>(`${older} LIMIT ${PRUNED_WITH_A_WRITE}`, bucket, key);
    deleteOldVersions(index, some, counts);
  }
}

/**
 * Removes old versions and markers for good.
 *
 * @returns how many there were, the parts of their bodies counted beside them
 */
export function deleteOldVersions(index: Statements, old: readonly Version[], counts: StoredCounts): number {
  let removed = 0;
  for (const version of old) {
    const { bucket, key, seq } = version;
    index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, seq);
    removed += 1 + (version.is_marker ? 0 : discardBody(index, version, counts));
  }
  return removed;
}

/** The newest old version becomes the current one; a marker is the newest of its key again. */
function promoteNewest(at: Place): void {
  const { index, bucket, key } = at;
  const newest = "SELECT * FROM history WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1";
  const found = index.record<Version>(newest, bucket, key);
  if (!found) return;
  const { is_marker, old_ms: _, ...version } = found;
  if (is_marker) {
    index.run("UPDATE history SET old_ms = NULL WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, found.seq);
    return;
  }
  removeRow(at, found.seq);
  index.insert("objects", version);
}

function removeRow({ index, bucket, key }: Place, seq: number): void {
  for (const table of ["objects", "history"]) {
    index.run(`DELETE FROM ${table} WHERE bucket = ? AND key = ? AND seq = ?`, bucket, key, seq);
  }
}

/**
 * Discards the body of a version that no row names.
 *
 * @returns the number of its parts
 */
function discardBody(index: Statements, version: Location & { size: number }, counts: StoredCounts): number {
  const parts = partsOf(version);
  discardStored(index, version);
  for (const part of parts ?? []) {
    if ("file" in part) index.run("DELETE FROM part_bodies WHERE file = ?", part.file);
    discardStored(index, { body: null, file: null, ...part });
  }
  counts.add(-1, version.size, parts && parts.length);
  return parts?.length ?? 0;
}

function partsOf({ parts }: Location): StoredParts["parts"] | null {
  if (parts === null) return null;
  const stored: StoredParts = JSON.parse(parts);
  return stored.parts;
}

/** Adds the record of a deletion where the bucket keeps some; it remains until the settings allow its removal. */
function addDeletionRecord({ index, bucket, key, rules, atMs }: Place, seq: number): void {
  if (rules.versioning === "off" || !rules.keepDeletionRecords) return;
  index.insert("deletion_records", { bucket, key, seq, deleted_ms: atMs }, "INSERT OR REPLACE");
}

function nextSeq({ index, bucket, key, atMs }: Place, current: Version | null): number {
  const old = index.row("SELECT max(seq) FROM history WHERE bucket = ? AND key = ?", bucket, key)?.[0];
  const newest = Math.max(current?.seq ?? 0, Number(old ?? 0));
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

/**
 * The settings of a bucket for writes and deletions. `prunesAtOnce`: old versions are removed at once;
 * `allowsOverwrite`: objects may be overwritten while the bucket has no versioning.
 *
 * @throws {StoreError} NoSuchBucket
 */
function bucketRules(index: Statements, bucket: number) {
  const row = index.row(
    "SELECT versioning, version_settings, json_extract(record, '$.s3UnversionedOverwrite') FROM buckets WHERE id = ?",
    bucket,
  );
  if (!row) throw new StoreError("NoSuchBucket");
  const { prune, pruneDays, ...settings } = versionSettings(String(row[1]));
  const versioning = row[0] as Versioning;
  return { ...settings, versioning, prunesAtOnce: prune && pruneDays === 0, allowsOverwrite: row[2] !== 0 };
}

/** The changes of objects. */
export const objectChanges = { putObject, deleteObjects, setTags, setObjectAcl };
