import { DatabaseSync } from "node:sqlite";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { sizeIfExists } from "@/lib/std/files.ts";
import { missingIndexError, needsIndex } from "./body_folder.ts";

/**
 * The tables of the store.
 *
 * - Names compare without case: `folded` is unique, and stored beside the name as it was typed.
 * - Numbers are never reused: a row may outlive the user or tenant that it names.
 * - Keys are blobs: they sort by their UTF-8 bytes as S3 requires, and may hold any character, NUL included.
 * - `objects` holds the current version of each key, so that a listing never skips old ones; `history` holds every
 *   older version and every delete marker. A key whose newest version is a marker, or that was deleted without one, has
 *   no row in `objects`.
 * - A version's `seq` grows per key and is its version id, unless `is_null` is set (S3's version id `null`). `old_ms`
 *   says since when it has not been the newest of its key, null while it is.
 * - A body is a blob in `bodies` (small) or a file below `bodies/` (large), never both, or several of them (`parts`,
 *   JSON), of which `part_bodies` names the files. The parts of an upload under way are rows of `parts`.
 * - Records, access lists, tags, headers, checksums and documents are JSON, CORS rules are XML. `version_settings` holds
 *   only what was set. A tenant's own documents have the `bucket` 0.
 * - `permission_mask` is the mask that a tenant or a namespace allows (-1: everything), `s3_access` how far S3 reaches a
 *   bucket (0 not at all, 1 signed requests, 2 all).
 * - `used_bytes` counts all that a tenant's buckets hold, `part_bytes` the parts of a bucket's uploads. `usage` is what
 *   was done by bucket and hour since 1970, with what the bucket held after the last change of that hour.
 * - `garbage` names files whose row is gone and which wait to be unlinked; `swept` holds the newest body folder that a
 *   start has searched for files without a row.
 * - `identity` says which index this is, and how many starts it has seen; the bodies beside it know both.
 */
const TABLES = `
CREATE TABLE tenants (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, record TEXT NOT NULL,
  created_ms INTEGER NOT NULL, cors TEXT, used_bytes INTEGER NOT NULL DEFAULT 0,
  permission_mask INTEGER NOT NULL DEFAULT -1
);
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
  guid TEXT NOT NULL UNIQUE, password_md5 TEXT NOT NULL, record TEXT NOT NULL,
  failed_attempts INTEGER NOT NULL DEFAULT 0, locked_ms INTEGER, former_passwords TEXT NOT NULL DEFAULT '[]',
  UNIQUE (tenant, folded)
);
CREATE TABLE groups (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
  guid TEXT NOT NULL UNIQUE, record TEXT NOT NULL, UNIQUE (tenant, folded)
);
CREATE TABLE group_members (
  user INTEGER NOT NULL, group_id INTEGER NOT NULL, PRIMARY KEY (user, group_id)
) WITHOUT ROWID;
CREATE INDEX group_members_by_group ON group_members (group_id);
CREATE TABLE buckets (
  id INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, name TEXT NOT NULL, folded TEXT NOT NULL,
  guid TEXT NOT NULL, owner INTEGER,
  versioning TEXT NOT NULL CHECK (versioning IN ('off', 'enabled', 'suspended')),
  version_settings TEXT NOT NULL DEFAULT '{}', record TEXT NOT NULL, created_ms INTEGER NOT NULL, cors TEXT, acl TEXT,
  permission_mask INTEGER NOT NULL DEFAULT -1, s3_access INTEGER NOT NULL DEFAULT 2,
  stored_bytes INTEGER NOT NULL DEFAULT 0, stored_count INTEGER NOT NULL DEFAULT 0,
  part_bytes INTEGER NOT NULL DEFAULT 0, multipart_objects INTEGER NOT NULL DEFAULT 0,
  multipart_object_parts INTEGER NOT NULL DEFAULT 0, multipart_object_bytes INTEGER NOT NULL DEFAULT 0,
  upload_count INTEGER NOT NULL DEFAULT 0, upload_parts INTEGER NOT NULL DEFAULT 0,
  UNIQUE (tenant, folded)
);
CREATE TABLE grants (
  user INTEGER NOT NULL, bucket INTEGER NOT NULL, permissions INTEGER NOT NULL, PRIMARY KEY (user, bucket)
) WITHOUT ROWID;
CREATE INDEX grants_by_bucket ON grants (bucket);
CREATE TABLE group_grants (
  group_id INTEGER NOT NULL, bucket INTEGER NOT NULL, permissions INTEGER NOT NULL, PRIMARY KEY (group_id, bucket)
) WITHOUT ROWID;
CREATE INDEX group_grants_by_bucket ON group_grants (bucket);
CREATE TABLE documents (
  tenant INTEGER NOT NULL, bucket INTEGER NOT NULL, kind TEXT NOT NULL, folded TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (tenant, bucket, kind, folded)
) WITHOUT ROWID;
CREATE TABLE objects (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, is_null INTEGER NOT NULL,
  size INTEGER NOT NULL, etag TEXT NOT NULL, modified_ms INTEGER NOT NULL, content_type TEXT NOT NULL, headers TEXT,
  owner INTEGER, body INTEGER, file TEXT, checksums TEXT, tags TEXT, acl TEXT, parts TEXT, PRIMARY KEY (bucket, key)
) WITHOUT ROWID;
CREATE INDEX object_files ON objects (file) WHERE file IS NOT NULL;
CREATE TABLE history (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, is_null INTEGER NOT NULL,
  is_marker INTEGER NOT NULL, size INTEGER NOT NULL, etag TEXT NOT NULL, modified_ms INTEGER NOT NULL,
  content_type TEXT NOT NULL, headers TEXT, owner INTEGER, body INTEGER, file TEXT, checksums TEXT, tags TEXT, acl TEXT,
  parts TEXT, old_ms INTEGER, PRIMARY KEY (bucket, key, seq DESC)
) WITHOUT ROWID;
CREATE INDEX history_files ON history (file) WHERE file IS NOT NULL;
CREATE INDEX history_by_age ON history (bucket, old_ms) WHERE old_ms IS NOT NULL;
CREATE TABLE deletion_records (
  bucket INTEGER NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, deleted_ms INTEGER NOT NULL,
  PRIMARY KEY (bucket, key, seq)
) WITHOUT ROWID;
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
CREATE TABLE bodies (id INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB NOT NULL);
CREATE TABLE garbage (file TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE swept (through TEXT NOT NULL);
CREATE TABLE usage (
  tenant INTEGER NOT NULL, bucket INTEGER NOT NULL, hour INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL,
  reads INTEGER NOT NULL, writes INTEGER NOT NULL, deletes INTEGER NOT NULL,
  stored_count INTEGER NOT NULL, stored_bytes INTEGER NOT NULL, part_bytes INTEGER NOT NULL,
  multipart_objects INTEGER NOT NULL, multipart_object_parts INTEGER NOT NULL, multipart_object_bytes INTEGER NOT NULL,
  upload_count INTEGER NOT NULL, upload_parts INTEGER NOT NULL,
  PRIMARY KEY (tenant, bucket, hour)
) WITHOUT ROWID;
CREATE TABLE identity (id TEXT NOT NULL, starts INTEGER NOT NULL);
`;

/**
 * The version of the index's layout, stored in SQLite's `user_version`. The seventh had an audit trail of the store's own
 * (`audit`, `audit_start`), which nothing reads any more; folders that have it keep it. The eighth keeps versions out
 * that write to that trail.
 */
export const INDEX_VERSION = 8;

/** The layout of the first release. No folder of an earlier one was ever in use. */
const OLDEST_VERSION = 6;

/**
 * Opens the index for writing. Creates its tables at the first start. Only one writer may be open at a time; the files
 * are readable by their owner alone.
 *
 * @throws {DataFolderError} for a folder of another version, and where there are bodies but no index
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
  if (version > INDEX_VERSION || (version > 0 && version < OLDEST_VERSION)) {
    index.close();
    const reason = version > INDEX_VERSION
      ? "was written by a newer version of Stackroom"
      : "was written by a version of Stackroom before its first release";
    throw new DataFolderError(
      `The data folder ${folder} ${reason} (layout ${version}, here ${INDEX_VERSION}): use that version, or set DATA_DIR to another folder.`,
    );
  }
  if (version < INDEX_VERSION) {
    index.exec(`BEGIN; ${version === 0 ? TABLES : ""} PRAGMA user_version = ${INDEX_VERSION}; COMMIT`);
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
