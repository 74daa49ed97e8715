import { compareBytes, indexOfBytes, STORAGE_CLASS, successor, versionNumber } from "./objects.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "./statements.ts";

/** An entry of a listing of versions. */
export interface ListedVersion {
  key: Uint8Array;
  /** S3's version id: `null` for versions that were written while versioning was off. */
  version: string;
  isLatest: boolean;
  isMarker: boolean;
  size: number;
  etag: string;
  modifiedMs: number;
  owner: number | null;
  /** JSON, as it was written; null where there are none. */
  checksums: string | null;
  /** Null for STANDARD. */
  storageClass: string | null;
}

/** The versions of a bucket that a listing requests; empty byte strings stand for absent parameters. */
interface VersionsQuery {
  prefix: Uint8Array;
  delimiter: Uint8Array;
  /** The listing continues after this key or common prefix … */
  keyMarker: Uint8Array;
  /** … or, where this is not null, after this version of the key. */
  versionMarker: string | null;
  limit: number;
}

export interface VersionsPage {
  versions: ListedVersion[];
  prefixes: Uint8Array[];
  /** The last entry of a page that is not the last: a version of a key, or a common prefix. */
  next: { key: Uint8Array; version: string | null } | null;
}

/** Lists the versions of buckets. */
export class Versions {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  /**
   * A page of the versions and delete markers of a bucket: keys in binary order, the versions of a key from the newest
   * on. A common prefix is one entry, and the index is queried again after it. The page shows one state of the index.
   */
  list(bucket: number, query: VersionsQuery): VersionsPage {
    return this.#index.snapshot(() => listVersions(this.#index, bucket, query));
  }
}

function listVersions(index: Statements, bucket: number, query: VersionsQuery): VersionsPage {
  const page: VersionsPage = { versions: [], prefixes: [], next: null };
  const end = successor(query.prefix);
  let last: VersionsPage["next"] = { key: query.keyMarker, version: query.versionMarker };
  let start = startOf(index, bucket, query);
  scan: while (start) {
    for (const version of merged(index, bucket, start, end)) {
      if (isFull()) return { ...page, next: last };
      let common = commonPrefix(version.key, query.prefix, query.delimiter);
      if (!common) {
        page.versions.push(version);
        last = { key: version.key, version: version.version };
        continue;
      }
      // A common prefix is often followed by another one: single rows are cheaper than a new scan for each.
      let key: Uint8Array | null = null;
      while (common) {
        page.prefixes.push(common);
        last = { key: common, version: null };
        key = firstKey(index, bucket, successor(common), end);
        if (key && isFull()) return { ...page, next: last };
        common = key && commonPrefix(key, query.prefix, query.delimiter);
      }
      start = key && { key, below: null };
      continue scan;
    }
    return page;
  }
  return page;

  function isFull(): boolean {
    return page.versions.length + page.prefixes.length === query.limit;
  }
}

/** The first key from one on that has a version or a marker; null where there is none before the end. */
function firstKey(
  index: Statements,
  bucket: number,
  from: Uint8Array | null,
  end: Uint8Array | null,
): Uint8Array | null {
  if (!from) return null;
  const [current, older] = ["objects", "history"].map((table) => {
    const range = `SELECT key FROM ${table} WHERE bucket = ? AND key >= ? ${end ? "AND key < ?" : ""}`;
    const row = index.row(`${range} ORDER BY key LIMIT 1`, bucket, from, ...(end ? [end] : []));
    return row && keyOf(row);
  });
  if (!current || !older) return current ?? older;
  return compareBytes(current, older) <= 0 ? current : older;
}

/** The part of a key up to the first delimiter after the prefix; null where it has none. */
export function commonPrefix(key: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | null {
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

/** Where a scan starts: at a key, or (where `below` is set) at its versions that are older than a number. */
interface Start {
  key: Uint8Array;
  below: number | null;
}

function startOf(index: Statements, bucket: number, query: VersionsQuery): Start | null {
  const { prefix, delimiter, keyMarker, versionMarker } = query;
  const next = afterMarker(keyMarker, prefix, delimiter);
  const isInKey = versionMarker !== null && compareBytes(keyMarker.subarray(0, prefix.length), prefix) === 0 &&
    !commonPrefix(keyMarker, prefix, delimiter);
  if (!isInKey) return next && { key: next, below: null };
  if (versionMarker !== "null") return { key: keyMarker, below: versionNumber(versionMarker) };
  const row = index.row("SELECT seq FROM objects WHERE bucket = ? AND key = ? AND is_null = 1", bucket, keyMarker) ??
    index.row("SELECT seq FROM history WHERE bucket = ? AND key = ? AND is_null = 1", bucket, keyMarker);
  // A null version that was deleted since: showing the key's others again is better than leaving one out.
  return { key: keyMarker, below: row ? Number(row[0]) : null };
}

/** Current and older versions in one order: a key's current version is newer than all its others. */
function* merged(index: Statements, bucket: number, start: Start, end: Uint8Array | null): Generator<ListedVersion> {
  const current = rowsOf(index, "objects", bucket, start, end);
  const older = rowsOf(index, "history", bucket, start, end);
  // The key whose newest version was scanned already.
  let begun = start.below !== null && isBegun(index, bucket, start.key, start.below) ? start.key : null;
  try {
    let a = current.next();
    let b = older.next();
    for (;;) {
      const isCurrent = !a.done && (b.done || compareBytes(keyOf(a.value), keyOf(b.value)) <= 0);
      const next = isCurrent ? a : b;
      if (next.done) return;
      const key = keyOf(next.value);
      // A key that was deleted without a marker has old versions only.
      const mayBeLatest = isCurrent || next.value.at(-1) === 1;
      yield listed(next.value, mayBeLatest && (!begun || compareBytes(begun, key) !== 0));
      begun = key;
      if (isCurrent) a = current.next();
      else b = older.next();
    }
  } finally {
    current.return(undefined);
    older.return(undefined);
  }
}

/** Whether a key has a version of this number or a newer one. */
function isBegun(index: Statements, bucket: number, key: Uint8Array, seq: number): boolean {
  return ["objects", "history"].some((table) =>
    index.row(`SELECT 1 FROM ${table} WHERE bucket = ? AND key = ? AND seq >= ? LIMIT 1`, bucket, key, seq) !== null
  );
}

/** The rows of one table from a start on, in the order of a listing. */
function* rowsOf(
  index: Statements,
  table: "objects" | "history",
  bucket: number,
  { key, below }: Start,
  end: Uint8Array | null,
): Generator<Cell[]> {
  const select = table === "objects" ? `SELECT ${LISTED}, 0 FROM objects` : `SELECT ${LISTED}, is_marker FROM history`;
  if (below !== null) {
    yield* index.each(`${select} WHERE bucket = ? AND key = ? AND seq < ? ORDER BY seq DESC`, bucket, key, below);
  }
  const range = `${below === null ? ">=" : ">"} ? ${end ? "AND key < ?" : ""}`;
  const parameters = end ? [bucket, key, end] : [bucket, key];
  yield* index.each(`${select} WHERE bucket = ? AND key ${range} ORDER BY key, seq DESC`, ...parameters);
}

const LISTED = `key, seq, is_null, size, etag, modified_ms, owner, checksums, ${STORAGE_CLASS}`;

function keyOf(row: Cell[]): Uint8Array {
  return row[0] as Uint8Array;
}

function listed(row: Cell[], isLatest: boolean): ListedVersion {
  const [, seq, isNull, size, etag, modifiedMs, owner, checksums, storageClass, isMarker] = row;
  return {
    key: keyOf(row),
    version: isNull === 1 ? "null" : String(seq),
    isLatest,
    isMarker: isMarker === 1,
    size: Number(size),
    etag: String(etag),
    modifiedMs: Number(modifiedMs),
    owner: numberOrNull(owner),
    checksums: textOrNull(checksums),
    storageClass: textOrNull(storageClass),
  };
}
