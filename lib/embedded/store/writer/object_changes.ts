import type { Cell, Statements } from "@/lib/embedded/store/index.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import type { Changes, VersionId, Versioning } from "@/lib/embedded/store/writer/changes.ts";

/** Version ids are microseconds, raised by one where a key is written faster than the clock moves. */
const SEQ_PER_MS = 1000;

const COLUMNS =
  "seq, is_null, size, etag, modified_ms, content_type, headers, owner, body, file, checksums, tags, acl, parts";
const PLACES = COLUMNS.replace(/\w+/g, "?");

/**
 * Writes an object by the versioning rules of its bucket. Throws {@link Refusal} with NoSuchBucket,
 * NoSuchKey, ConditionFailed, or AccessDenied when the writer was deleted meanwhile.
 */
export function putObject(index: Statements, given: Changes["putObject"]["given"]): Changes["putObject"]["result"] {
  const body = "data" in given.body ? insertBody(index, given.body.data) : null;
  const file = "file" in given.body ? given.body.file : null;
  const { version } = putVersion(index, given, { body, file, parts: null });
  return { version };
}

/** A piece of a body that was uploaded in parts: a file, or a row of `bodies`. */
export type StoredPart = { file: string; size: number } | { body: number; size: number };

/** What the column `parts` holds, as JSON: the pieces in their order, and the upload that they came by. */
export interface StoredParts {
  upload: string;
  parts: StoredPart[];
}

/** Keeps a small body and gives its row. */
export function insertBody(index: Statements, data: Uint8Array): number {
  return index.run("INSERT INTO bodies (data) VALUES (?)", data).id;
}

/** Writes a version whose body is in place already. Throws as {@link putObject} does. */
export function putVersion(
  index: Statements,
  given: Omit<Changes["putObject"]["given"], "body">,
  place: { body: number | null; file: string | null; parts: string | null },
): { version: VersionId; seq: number } {
  const { bucket, key, condition } = given;
  const versioning = versioningOf(index, bucket);
  if (given.owner !== null && !index.row("SELECT 1 FROM users WHERE id = ?", given.owner)) {
    throw new Refusal("AccessDenied");
  }
  const current = currentVersion(index, bucket, key);
  if (condition && "absent" in condition && current) throw new Refusal("ConditionFailed");
  if (condition && "etag" in condition) {
    if (!current) throw new Refusal("NoSuchKey");
    if (current.etag !== condition.etag) throw new Refusal("ConditionFailed");
  }
  const seq = nextSeq(index, bucket, key, current, given.atMs);
  makeRoom(index, bucket, key, current, versioning);
  index.run(
    `INSERT OR REPLACE INTO objects (bucket, key, ${COLUMNS}) VALUES (?, ?, ${PLACES})`,
    bucket,
    key,
    seq,
    versioning === "enabled" ? 0 : 1,
    given.size,
    given.etag,
    given.atMs,
    given.contentType,
    given.headers,
    given.owner,
    place.body,
    place.file,
    given.checksums,
    given.tags,
    given.acl,
    place.parts,
  );
  count(index, bucket, given.size, 1);
  return { version: versionId(versioning, seq), seq };
}

/** Deletes a key or one version of it. Deleting what is not there is no error, as in S3. */
export function deleteObject(
  index: Statements,
  given: Changes["deleteObject"]["given"],
): Changes["deleteObject"]["result"] {
  return given.version === null ? deleteKey(index, given) : deleteVersion(index, given, given.version);
}

function deleteKey(
  index: Statements,
  { bucket, key, atMs }: Changes["deleteObject"]["given"],
): Changes["deleteObject"]["result"] {
  const versioning = versioningOf(index, bucket);
  const current = currentVersion(index, bucket, key);
  if (versioning === "off") {
    if (current) removeCurrent(index, bucket, key, current);
    return { version: null, isMarker: false };
  }
  // A key that is absent already, or hidden by a marker, gets no further marker.
  if (!current) return { version: null, isMarker: false };
  const seq = nextSeq(index, bucket, key, current, atMs);
  makeRoom(index, bucket, key, current, versioning);
  index.run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, key);
  index.run(
    `INSERT INTO history (bucket, key, seq, is_null, is_marker, size, etag, modified_ms, content_type)
     VALUES (?, ?, ?, ?, 1, 0, '', ?, '')`,
    bucket,
    key,
    seq,
    versioning === "enabled" ? 0 : 1,
    atMs,
  );
  return { version: versionId(versioning, seq), isMarker: true };
}

function deleteVersion(
  index: Statements,
  { bucket, key }: Changes["deleteObject"]["given"],
  version: string,
): Changes["deleteObject"]["result"] {
  versioningOf(index, bucket);
  const wanted = parseVersionId(version);
  const current = currentVersion(index, bucket, key);
  if (current && names(wanted, current)) {
    removeCurrent(index, bucket, key, current);
    promoteNewest(index, bucket, key);
    return { version, isMarker: false };
  }
  const row = wanted === "null"
    ? index.row(`SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? AND is_null = 1`, bucket, key)
    : index.row(
      `SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? AND seq = ? AND is_null = 0`,
      bucket,
      key,
      wanted,
    );
  if (!row) return { version, isMarker: false };
  const old = versionRow(row.slice(1));
  const isMarker = row[0] === 1;
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, old.seq);
  if (!isMarker) discard(index, bucket, old);
  if (!current) promoteNewest(index, bucket, key);
  return { version, isMarker };
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
    body: cells[8] === null ? null : Number(cells[8]),
    file: cells[9] === null ? null : String(cells[9]),
    parts: cells[13] === null ? null : String(cells[13]),
    cells,
  };
}

function currentVersion(index: Statements, bucket: number, key: Uint8Array): VersionRow | null {
  const row = index.row(`SELECT ${COLUMNS} FROM objects WHERE bucket = ? AND key = ?`, bucket, key);
  return row && versionRow(row);
}

function versioningOf(index: Statements, bucket: number): Versioning {
  const row = index.row("SELECT versioning FROM buckets WHERE id = ?", bucket);
  if (!row) throw new Refusal("NoSuchBucket");
  return row[0] as Versioning;
}

/** Makes way for a new version: the present one becomes history, or goes where the new one takes its place. */
function makeRoom(
  index: Statements,
  bucket: number,
  key: Uint8Array,
  current: VersionRow | null,
  versioning: Versioning,
): void {
  if (current) {
    if (versioning !== "enabled" && current.isNull) discard(index, bucket, current);
    else moveToHistory(index, bucket, key, current);
  }
  if (versioning !== "suspended") return;
  const row = index.row(
    `SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? AND is_null = 1`,
    bucket,
    key,
  );
  if (!row) return;
  const old = versionRow(row.slice(1));
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, old.seq);
  if (row[0] === 0) discard(index, bucket, old);
}

function moveToHistory(index: Statements, bucket: number, key: Uint8Array, version: VersionRow): void {
  index.run(
    `INSERT INTO history (bucket, key, is_marker, ${COLUMNS}) VALUES (?, ?, 0, ${PLACES})`,
    bucket,
    key,
    ...version.cells,
  );
}

/** The newest old version becomes the current one, unless it is a marker. */
function promoteNewest(index: Statements, bucket: number, key: Uint8Array): void {
  const row = index.row(
    `SELECT is_marker, ${COLUMNS} FROM history WHERE bucket = ? AND key = ? ORDER BY seq DESC LIMIT 1`,
    bucket,
    key,
  );
  if (!row || row[0] === 1) return;
  const cells = row.slice(1);
  index.run("DELETE FROM history WHERE bucket = ? AND key = ? AND seq = ?", bucket, key, cells[0]);
  index.run(
    `INSERT INTO objects (bucket, key, ${COLUMNS}) VALUES (?, ?, ${PLACES})`,
    bucket,
    key,
    ...cells,
  );
}

function removeCurrent(index: Statements, bucket: number, key: Uint8Array, current: VersionRow): void {
  index.run("DELETE FROM objects WHERE bucket = ? AND key = ?", bucket, key);
  discard(index, bucket, current);
}

/** Gives up the body of a version that no row names any more. */
function discard(index: Statements, bucket: number, version: VersionRow): void {
  if (version.body !== null) index.run("DELETE FROM bodies WHERE id = ?", version.body);
  if (version.file !== null) index.run("INSERT OR IGNORE INTO garbage (file) VALUES (?)", version.file);
  if (version.parts !== null) discardParts(index, JSON.parse(version.parts));
  count(index, bucket, -version.size, -1);
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

function count(index: Statements, bucket: number, bytes: number, versions: number): void {
  index.run(
    "UPDATE buckets SET stored_bytes = stored_bytes + ?, stored_count = stored_count + ? WHERE id = ?",
    bytes,
    versions,
    bucket,
  );
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
  return Math.max(newest + 1, atMs * SEQ_PER_MS);
}

function versionId(versioning: Versioning, seq: number): VersionId {
  if (versioning === "off") return null;
  return versioning === "enabled" ? String(seq) : "null";
}

/** A version id as the index keeps it; what no version can have becomes a number that none has. */
function parseVersionId(version: string): number | "null" {
  if (version === "null") return "null";
  return /^[1-9][0-9]{0,15}$/.test(version) ? Number(version) : -1;
}

function names(wanted: number | "null", version: VersionRow): boolean {
  return wanted === "null" ? version.isNull : !version.isNull && version.seq === wanted;
}
