import { DatabaseSync } from "node:sqlite";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { sizeIfExists } from "@/lib/std/files.ts";
import { missingIndexError, needsIndex } from "./body_mark.ts";

/**
 * The tables of the store, versioned from the first layout on.
 *
 * - Names compare without case: `folded` is unique, and stored beside the name as it was typed.
 * - Numbers are never reused: a row may outlive the user or tenant that it names.
 * - Keys are blobs: they sort by their UTF-8 bytes as S3 requires, and may hold any character, NUL included.
 * - `objects` holds the current version of each key, so that a listing never skips old ones; `history` holds every
 *   older version and every delete marker. A key whose newest version is a marker, or that was deleted without one, has
 *   no row in `objects`.
 * - A version's `seq` grows per key and is its version id, unless `is_null` is set (S3's version id `null`).
 * - A body is a blob in `bodies` (small) or a file below `bodies/` (large), never both.
 * - `garbage` names files whose row is gone and which wait to be unlinked; `swept` holds the newest body folder that a
 *   start has searched for files without a row.
 */
const FIRST_LAYOUT = `
CREATE TABLE tenants (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, record TEXT NOT NULL, created_ms INTEGER NOT NULL
);
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL, guid TEXT NOT NULL UNIQUE,
  password_md5 TEXT NOT NULL, record TEXT NOT NULL, UNIQUE (tenant, folded)
);
CREATE TABLE buckets (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL, guid TEXT NOT NULL,
  owner INTEGER, versioning TEXT NOT NULL CHECK (versioning IN ('off', 'enabled', 'suspended')),
  record TEXT NOT NULL, created_ms INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL DEFAULT 0, stored_count INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, folded)
);
CREATE TABLE grants (
  user INTEGER NOT NULL, bucket INTEGER NOT NULL, permissions INTEGER NOT NULL, PRIMARY KEY (user, bucket)
) WITHOUT ROWID;
CREATE INDEX grants_by_bucket ON grants (bucket);
CREATE TABLE objects (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, is_null INTEGER NOT NULL,
  size INTEGER NOT NULL, etag TEXT NOT NULL, modified_ms INTEGER NOT NULL, content_type TEXT NOT NULL, headers TEXT,
  owner INTEGER, body INTEGER, file TEXT, PRIMARY KEY (bucket, key)
) WITHOUT ROWID;
CREATE TABLE history (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, is_null INTEGER NOT NULL, is_marker INTEGER NOT NULL,
  size INTEGER NOT NULL, etag TEXT NOT NULL, modified_ms INTEGER NOT NULL, content_type TEXT NOT NULL, headers TEXT,
  owner INTEGER, body INTEGER, file TEXT, PRIMARY KEY (bucket, key, seq DESC)
) WITHOUT ROWID;
CREATE INDEX object_files ON objects (file) WHERE file IS NOT NULL;
CREATE INDEX history_files ON history (file) WHERE file IS NOT NULL;
CREATE TABLE bodies (id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL);
CREATE TABLE garbage (file TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE swept (through TEXT NOT NULL);
`;

/**
 * What the second layout adds: digests, tags and access lists of versions (JSON), bodies of several files (JSON), and
 * uploads in parts. A part's body is a blob or a file, as an object's is.
 */
const SECOND_LAYOUT = `
ALTER TABLE objects ADD COLUMN checksums TEXT; ALTER TABLE history ADD COLUMN checksums TEXT;
ALTER TABLE objects ADD COLUMN tags TEXT; ALTER TABLE history ADD COLUMN tags TEXT;
ALTER TABLE objects ADD COLUMN acl TEXT; ALTER TABLE history ADD COLUMN acl TEXT;
ALTER TABLE objects ADD COLUMN parts TEXT; ALTER TABLE history ADD COLUMN parts TEXT;
CREATE TABLE uploads (
  id TEXT PRIMARY KEY, bucket INTEGER NOT NULL, key BLOB NOT NULL, owner INTEGER, content_type TEXT NOT NULL,
  headers TEXT, tags TEXT, acl TEXT, checksum_algorithm TEXT, checksum_type TEXT, started_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX uploads_by_key ON uploads (bucket, key, id);
CREATE TABLE parts (
  upload TEXT NOT NULL, number INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, checksums TEXT,
  modified_ms INTEGER NOT NULL, body INTEGER, file TEXT, PRIMARY KEY (upload, number)
) WITHOUT ROWID;
CREATE INDEX part_files ON parts (file) WHERE file IS NOT NULL;
CREATE TABLE part_bodies (
  file TEXT PRIMARY KEY, bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL
) WITHOUT ROWID;
`;

/**
 * What the third layout adds: access lists (JSON) and CORS rules (XML) of buckets, CORS rules of tenants, the settings
 * of keeping versions (JSON, only what was set), groups with their members and what they may do, and the records of
 * deleted versions. `old_ms` says since when a version has not been the newest of its key, null while it is; `part_bytes`
 * counts the parts of a bucket's uploads, and `used_bytes` all that a tenant's buckets hold, for their quotas.
 */
const THIRD_LAYOUT = `
ALTER TABLE tenants ADD COLUMN cors TEXT;
ALTER TABLE buckets ADD COLUMN cors TEXT;
ALTER TABLE buckets ADD COLUMN acl TEXT;
ALTER TABLE buckets ADD COLUMN version_settings TEXT NOT NULL DEFAULT '{}';
CREATE TABLE groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
  guid TEXT NOT NULL UNIQUE, record TEXT NOT NULL, UNIQUE (tenant, folded)
);
CREATE TABLE group_members (
  user INTEGER NOT NULL, group_id INTEGER NOT NULL, PRIMARY KEY (user, group_id)
) WITHOUT ROWID;
CREATE INDEX group_members_by_group ON group_members (group_id);
CREATE TABLE group_grants (
  group_id INTEGER NOT NULL, bucket INTEGER NOT NULL, permissions INTEGER NOT NULL, PRIMARY KEY (group_id, bucket)
) WITHOUT ROWID;
CREATE INDEX group_grants_by_bucket ON group_grants (bucket);
CREATE TABLE deletion_records (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, deleted_ms INTEGER NOT NULL,
  PRIMARY KEY (bucket, key, seq)
) WITHOUT ROWID;
ALTER TABLE history ADD COLUMN old_ms INTEGER;
CREATE INDEX history_by_age ON history (bucket, old_ms) WHERE old_ms IS NOT NULL;
UPDATE history AS old SET old_ms = coalesce(
  (SELECT modified_ms FROM history WHERE bucket = old.bucket AND key = old.key AND seq > old.seq ORDER BY seq LIMIT 1),
  (SELECT modified_ms FROM objects WHERE bucket = old.bucket AND key = old.key)
);
ALTER TABLE buckets ADD COLUMN part_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE buckets SET part_bytes = (
  SELECT coalesce(sum(size), 0) FROM uploads JOIN parts ON parts.upload = uploads.id WHERE uploads.bucket = buckets.id
);
ALTER TABLE tenants ADD COLUMN used_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE tenants SET used_bytes = (
  SELECT coalesce(sum(stored_bytes + part_bytes), 0) FROM buckets WHERE buckets.tenant = tenants.id
);
UPDATE buckets SET
  version_settings = json_remove(json_extract(record, '$.versioningSettings'), '$.enabled'),
  record = json_remove(record, '$.versioningSettings')
WHERE json_type(record, '$.versioningSettings') = 'object';
`;

/**
 * What the fourth layout adds: documents of the management API (JSON) of a tenant (`bucket` 0) or a namespace, those of
 * a kind by their names; masks of what permissions a tenant and a namespace allow at all (-1: every one); how far S3
 * reaches a bucket (0 not at all, 1 signed requests, 2 all); wrong passwords and former ones (JSON) of users; and what
 * was done by bucket and hour since 1970, with what the bucket held after the last change of that hour.
 */
const FOURTH_LAYOUT = `
CREATE TABLE documents (
  tenant INTEGER NOT NULL, bucket INTEGER NOT NULL, kind TEXT NOT NULL, folded TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (tenant, bucket, kind, folded)
) WITHOUT ROWID;
ALTER TABLE tenants ADD COLUMN permission_mask INTEGER NOT NULL DEFAULT -1;
ALTER TABLE buckets ADD COLUMN permission_mask INTEGER NOT NULL DEFAULT -1;
ALTER TABLE buckets ADD COLUMN s3_access INTEGER NOT NULL DEFAULT 2;
ALTER TABLE users ADD COLUMN failed_attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN locked_ms INTEGER;
ALTER TABLE users ADD COLUMN former_passwords TEXT NOT NULL DEFAULT '[]';
ALTER TABLE buckets ADD COLUMN multipart_objects INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN multipart_object_parts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN multipart_object_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN upload_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN upload_parts INTEGER NOT NULL DEFAULT 0;
UPDATE buckets SET
  multipart_objects = (SELECT count(*) FROM objects WHERE bucket = buckets.id AND parts IS NOT NULL)
    + (SELECT count(*) FROM history WHERE bucket = buckets.id AND parts IS NOT NULL),
  multipart_object_parts =
    (SELECT coalesce(sum(json_array_length(parts, '$.parts')), 0) FROM objects WHERE bucket = buckets.id)
    + (SELECT coalesce(sum(json_array_length(parts, '$.parts')), 0) FROM history WHERE bucket = buckets.id),
  multipart_object_bytes =
    (SELECT coalesce(sum(size), 0) FROM objects WHERE bucket = buckets.id AND parts IS NOT NULL)
    + (SELECT coalesce(sum(size), 0) FROM history WHERE bucket = buckets.id AND parts IS NOT NULL),
  upload_count = (SELECT count(*) FROM uploads WHERE bucket = buckets.id),
  upload_parts = (SELECT count(*) FROM uploads JOIN parts ON upload = uploads.id WHERE bucket = buckets.id);
CREATE TABLE usage (
  tenant INTEGER NOT NULL, bucket INTEGER NOT NULL, hour INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, deletes INTEGER NOT NULL,
  stored_count INTEGER NOT NULL, stored_bytes INTEGER NOT NULL, part_bytes INTEGER NOT NULL,
  multipart_objects INTEGER NOT NULL, multipart_object_parts INTEGER NOT NULL, multipart_object_bytes INTEGER NOT NULL,
  upload_count INTEGER NOT NULL, upload_parts INTEGER NOT NULL,
  PRIMARY KEY (tenant, bucket, hour)
) WITHOUT ROWID;
INSERT INTO usage SELECT tenant, id, unixepoch() / 3600, 0, 0, 0, 0, 0, stored_count, stored_bytes, part_bytes,
  multipart_objects, multipart_object_parts, multipart_object_bytes, upload_count, upload_parts FROM buckets;
`;

/** What the fifth layout adds: which index this is, and how many starts it has seen; the bodies beside it know both. */
const FIFTH_LAYOUT = `
CREATE TABLE identity (id TEXT NOT NULL, starts INTEGER NOT NULL);
`;

/**
 * The sixth layout no longer locks accounts by default. Before, five wrong passwords locked one, also where the default
 * was stored with other settings.
 */
const SIXTH_LAYOUT = `
UPDATE documents SET document = json_set(document, '$.disableAfterAttempts', 0)
WHERE kind = 'consoleSecurity' AND json_extract(document, '$.disableAfterAttempts') = 5;
UPDATE users SET failed_attempts = 0, locked_ms = NULL;
`;

/**
 * The seventh layout had an audit trail of the store's own (`audit`, `audit_start`), which nothing reads any more. Folders
 * that have it keep it.
 */
const SEVENTH_LAYOUT = "";

/** The eighth layout keeps versions out that write to that trail. */
const EIGHTH_LAYOUT = "";

/** The layouts in their order; a folder of an older one is taken through those that follow. */
export const LAYOUTS: readonly string[] = [
  FIRST_LAYOUT,
  SECOND_LAYOUT,
  THIRD_LAYOUT,
  FOURTH_LAYOUT,
  FIFTH_LAYOUT,
  SIXTH_LAYOUT,
  SEVENTH_LAYOUT,
  EIGHTH_LAYOUT,
];

/** The version of the index's layout, stored in SQLite's `user_version`. */
export const INDEX_VERSION = LAYOUTS.length;

/**
 * Opens the index for writing. Creates its tables at the first start, and those of later layouts at the first start
 * after an update. Only one writer may be open at a time; the files are readable by their owner alone.
 *
 * @throws {DataFolderError} for a folder of a newer version, and where there are bodies but no index
 */
export function openIndexForWriting(folder: string): DatabaseSync {
  const path = `${folder}/index.db`;
  // Checked before it is opened: beside a missing index, SQLite removes the log, which may hold all of the data.
  const size = sizeIfExists(path);
  const isMissing = size === null;
  if (!size && (needsIndex(folder) || sizeIfExists(`${path}-wal`))) {
    throw missingIndexError(folder, isMissing ? "missing" : "empty");
  }
  // SQLite creates the log and the shared memory beside the index with the mode of the index.
  Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
  const index = new DatabaseSync(path);
  // FULL: a commit that was acknowledged survives power loss, not only the end of the process.
  index.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000");
  const version = layoutOf(index);
  if (version === 0 && needsIndex(folder)) {
    index.close();
    throw missingIndexError(folder, "empty");
  }
  if (version > INDEX_VERSION) {
    index.close();
    throw new DataFolderError(
      `The data folder ${folder} was written by a newer version of Stackroom (layout ${version}, here ${INDEX_VERSION}): use that version, or set DATA_DIR to another folder.`,
    );
  }
  if (version < INDEX_VERSION) {
    index.exec(`BEGIN; ${LAYOUTS.slice(version).join("")}; PRAGMA user_version = ${INDEX_VERSION}; COMMIT`);
  }
  return index;
}

/** The version of an index's layout; 0 for one without tables. */
export function layoutOf(index: DatabaseSync): number {
  return Number(index.prepare("PRAGMA user_version").get()?.user_version ?? 0);
}

/** Opens the index for reading beside the writer. */
export function openIndexForReading(folder: string): DatabaseSync {
  const index = new DatabaseSync(`${folder}/index.db`, { readOnly: true });
  index.exec("PRAGMA busy_timeout = 5000");
  return index;
}
