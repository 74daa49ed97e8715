import type { Statements } from "./statements.ts";
import {
  compareBytes,
  indexOfBytes,
  type ListedObject,
  STORAGE_CLASS,
  successor,
  versionNumber,
} from "./stored_objects.ts";

/** An entry of a listing of versions. */
export interface ListedVersion extends Omit<ListedObject, "key"> {
  key: Uint8Array;
  /** S3's version id: `null` for versions that were written while versioning was off. */
  version: string;
  isLatest: 0 | 1;
  isMarker: 0 | 1;
}

/** The keys that a listing requests; empty byte strings for absent parameters. */
interface KeysQuery {
  prefix: Uint8Array;
  delimiter: Uint8Array;
  /** The listing continues after this key or common prefix. */
  keyMarker: Uint8Array;
  limit: number;
}

/** A page of a listing of keys with several entries each. */
export interface EntriesPage<T> {
  entries: T[];
  prefixes: Uint8Array[];
  /** The last entry of a page that is not the last: an entry of a key, or (without one) a common prefix. */
  next: { key: Uint8Array; entry: T | null } | null;
}

/**
 * A page of the versions and delete markers of a bucket: keys in binary order, the versions of a key from the newest on.
 * With a `versionMarker`, it continues after that version of the marker's key. The page shows one state of the index.
 */
export function listVersions(
  index: Statements,
  bucket: number,
  { versionMarker, ...query }: KeysQuery & { versionMarker: string | null },
): EntriesPage<ListedVersion> {
  const end = successor(query.prefix);
  return index.snapshot(() =>
    pageOf(query, versionMarker !== null, (key, isInKey) => {
      const below = isInKey ? markedNumber(index, bucket, key, versionMarker ?? "") : null;
      return versionsFrom(index, { bucket, key, below, end });
    })
  );
}

/**
 * A page of entries in the order of their keys. A common prefix is one entry, and they are read again after it.
 *
 * @param isInKey whether it continues within the entries of the marker's key
 * @param read returns the entries from a key on; `isInKey` says whether only those after the marker's
 */
function pageOf<T extends { key: Uint8Array }>(
  { prefix, delimiter, keyMarker, limit }: KeysQuery,
  isInKey: boolean,
  read: (from: Uint8Array, isInKey: boolean) => Iterable<T>,
): EntriesPage<T> {
  const page: EntriesPage<T> = { entries: [], prefixes: [], next: null };
  let last: EntriesPage<T>["next"] = { key: keyMarker, entry: null };
  let isWithin = isInKey && compareBytes(keyMarker.subarray(0, prefix.length), prefix) === 0 &&
    !commonPrefix(keyMarker, prefix, delimiter);
  let from = isWithin ? keyMarker : afterMarker(keyMarker, prefix, delimiter);
  scan: while (from) {
    for (const entry of read(from, isWithin)) {
      if (page.entries.length + page.prefixes.length === limit) return { ...page, next: last };
      const common = commonPrefix(entry.key, prefix, delimiter);
      last = { key: common ?? entry.key, entry: common ? null : entry };
      if (!common) {
        page.entries.push(entry);
        continue;
      }
      page.prefixes.push(common);
      from = successor(common);
      isWithin = false;
      continue scan;
    }
    return page;
  }
  return page;
}

/** The part of a key up to the first delimiter after the prefix; null where it has none. */
function commonPrefix(key: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | null {
  if (delimiter.length === 0) return null;
  const cut = indexOfBytes(key, delimiter, prefix.length);
  return cut < 0 ? null : key.slice(0, cut + delimiter.length);
}

/**
 * The first key that a listing with a marker may show: the next one, or the first after the common prefix that contains
 * the marker, since the prefix as an entry is not after the marker. Null where nothing can follow.
 */
export function afterMarker(marker: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | null {
  if (marker.length === 0 || compareBytes(marker, prefix) < 0) return prefix;
  const common = compareBytes(marker.subarray(0, prefix.length), prefix) === 0
    ? commonPrefix(marker, prefix, delimiter)
    : null;
  return common ? successor(common) : Uint8Array.of(...marker, 0);
}

/** The number of the version that a marker names; null for a null version that was deleted since. */
function markedNumber(index: Statements, bucket: number, key: Uint8Array, version: string): number | null {
  if (version !== "null") return versionNumber(version);
  const [row = null] = ["objects", "history"].flatMap((table) =>
    index.rows(`SELECT seq FROM ${table} WHERE bucket = ? AND key = ? AND is_null = 1`, bucket, key)
  );
  // Showing the key's others again is better than leaving one out.
  return row && Number(row[0]);
}

/** Current and older versions from a key on or, where `below` is set, from its versions older than that number on. */
function* versionsFrom(
  index: Statements,
  { bucket, key, below, end }: {
    readonly bucket: number;
    readonly key: Uint8Array;
    readonly below: number | null;
    readonly end: Uint8Array | null;
  },
): Generator<ListedVersion> {
  if (below !== null) yield* index.eachRecord<ListedVersion>(select("key = ?2 AND seq < ?3"), bucket, key, below);
  const range = `key ${below === null ? ">=" : ">"} ?2 ${end ? "AND key < ?3" : ""}`;
  const rows = [select(range), bucket, key, ...(end ? [end] : [])] as const;
  // The first row alone: between common prefixes a scan ends at it, and an iterator costs four times a row.
  const first = index.record<ListedVersion>(...rows);
  if (!first) return;
  yield first;
  yield* index.eachRecord<ListedVersion>(...rows).drop(1);
}

const LISTED =
  `key, seq, iif(is_null, 'null', CAST(seq AS TEXT)) AS version, size, etag, modified_ms AS modifiedMs, owner,
  checksums, ${STORAGE_CLASS} AS storageClass`;

/** Whether a marker is the newest of its key: one that was deleted without a marker has old versions only. */
const IS_LATEST = `is_marker
  AND NOT EXISTS (SELECT 1 FROM objects WHERE objects.bucket = history.bucket AND objects.key = history.key)
  AND seq = (SELECT max(seq) FROM history AS own WHERE own.bucket = history.bucket AND own.key = history.key)`;

function select(where: string): string {
  return `SELECT ${LISTED}, 0 AS isMarker, 1 AS isLatest FROM objects WHERE bucket = ?1 AND ${where} UNION ALL
    SELECT ${LISTED}, is_marker, ${IS_LATEST} FROM history WHERE bucket = ?1 AND ${where} ORDER BY key, seq DESC`;
}

/** An upload in parts that is under way. */
export interface Upload {
  id: string;
  key: Uint8Array;
  owner: number | null;
  checksumAlgorithm: string | null;
  checksumType: string | null;
  startedMs: number;
  /** Null for STANDARD. */
  storageClass: string | null;
}

/** A part that arrived. */
export interface UploadedPart {
  number: number;
  size: number;
  /** Without quotes. */
  etag: string;
  /** Digests in base64 by their algorithm. */
  checksums: Record<string, string>;
  modifiedMs: number;
}

/** A part as its row holds it: the checksums are JSON. */
type StoredPart = Omit<UploadedPart, "checksums"> & { checksums: string | null };

/** Reads uploads in parts. */
export class Uploads {
  constructor(private readonly index: Statements) {}

  find(bucket: number, key: Uint8Array, id: string): Upload | null {
    return this.index.record(`SELECT ${UPLOAD} FROM uploads WHERE id = ? AND bucket = ? AND key = ?`, id, bucket, key);
  }

  /** Parts with numbers above `after`, in their order, at most `limit`. */
  parts(upload: string, after: number, limit: number): UploadedPart[] {
    const sql = `SELECT number, size, etag, checksums, modified_ms AS modifiedMs FROM parts
      WHERE upload = ? AND number > ? ORDER BY number LIMIT ?`;
    const rows = this.index.records<StoredPart>(sql, upload, after, limit);
    return rows.map((row) => ({ ...row, checksums: JSON.parse(row.checksums ?? "{}") }));
  }

  /**
   * A page of a bucket's uploads in the binary order of their keys, those of one key in the order they were started.
   * With an `uploadMarker`, it continues after that upload of the marker's key.
   */
  list(
    bucket: number,
    { uploadMarker, ...query }: Parameters<typeof pageOf>[0] & { uploadMarker: string },
  ): EntriesPage<Upload> {
    const end = successor(query.prefix);
    const from = (key: Uint8Array, isInKey: boolean) =>
      this.index.eachRecord<Upload>(
        `SELECT ${UPLOAD} FROM uploads WHERE bucket = ? AND (key, id) > (?, ?) ${end ? "AND key < ?" : ""}
         ORDER BY key, id`,
        ...[bucket, key, isInKey ? uploadMarker : "", ...(end ? [end] : [])],
      );
    return pageOf(query, uploadMarker !== "", from);
  }
}

const UPLOAD = `id, key, owner, checksum_algorithm AS checksumAlgorithm, checksum_type AS checksumType,
  started_ms AS startedMs, ${STORAGE_CLASS} AS storageClass`;
