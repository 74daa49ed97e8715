import { compareBytes, STORAGE_CLASS, successor } from "./objects.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "./statements.ts";
import { afterMarker, commonPrefix } from "./versions.ts";

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

interface UploadsPage {
  uploads: Upload[];
  prefixes: Uint8Array[];
  /** What the next page comes after: a key with an upload, or a common prefix; null when this was the last. */
  next: UploadMarker | null;
}

/** What a page comes after: all uploads of a key, or those up to one of them (an empty `upload` is none). */
export interface UploadMarker {
  key: Uint8Array;
  upload: string;
}

/** Reads uploads in parts. */
export class Uploads {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  find(bucket: number, key: Uint8Array, id: string): Upload | null {
    const row = this.#index.row(
      `SELECT ${UPLOAD} FROM uploads WHERE id = ? AND bucket = ? AND key = ?`,
      id,
      bucket,
      key,
    );
    return row && uploadOf(row);
  }

  /** Parts with numbers above `after`, in their order, at most `limit`. */
  parts(upload: string, after: number, limit: number): UploadedPart[] {
    return this.#index.rows(
      `SELECT number, size, etag, checksums, modified_ms FROM parts WHERE upload = ? AND number > ?
       ORDER BY number LIMIT ?`,
      upload,
      after,
      limit,
    ).map(([number, size, etag, checksums, modifiedMs]) => ({
      number: Number(number),
      size: Number(size),
      etag: String(etag),
      checksums: checksums === null ? {} : JSON.parse(String(checksums)),
      modifiedMs: Number(modifiedMs),
    }));
  }

  /**
   * A page of a bucket's uploads in the binary order of their keys, those of one key in the order they were started. Keys
   * that share what follows the prefix up to the delimiter are one common prefix.
   */
  list(bucket: number, prefix: Uint8Array, delimiter: Uint8Array, after: UploadMarker, limit: number): UploadsPage {
    const page: UploadsPage = { uploads: [], prefixes: [], next: null };
    const end = successor(prefix);
    let last: UploadMarker = after;
    let from = startOf(prefix, delimiter, after);
    scan: while (from) {
      const rows: Iterable<Cell[]> = end
        ? this.#index.each(`${LISTED} AND key < ? ${ORDER}`, bucket, from.key, from.upload, end)
        : this.#index.each(`${LISTED} ${ORDER}`, bucket, from.key, from.upload);
      for (const row of rows) {
        if (page.uploads.length + page.prefixes.length === limit) {
          page.next = last;
          return page;
        }
        const upload = uploadOf(row);
        const common = commonPrefix(upload.key, prefix, delimiter);
        if (!common) {
          page.uploads.push(upload);
          last = { key: upload.key, upload: upload.id };
          continue;
        }
        page.prefixes.push(common);
        last = { key: common, upload: "" };
        const next = successor(common);
        from = next && { key: next, upload: "" };
        continue scan;
      }
      return page;
    }
    return page;
  }
}

/**
 * The upload after which a scan begins: within a key where the marker names one of its uploads and the key is an entry itself.
 */
function startOf(prefix: Uint8Array, delimiter: Uint8Array, after: UploadMarker): UploadMarker | null {
  const isInKey = after.upload !== "" && compareBytes(after.key.subarray(0, prefix.length), prefix) === 0 &&
    !commonPrefix(after.key, prefix, delimiter);
  if (isInKey) return after;
  const key = afterMarker(after.key, prefix, delimiter);
  return key && { key, upload: "" };
}

const UPLOAD = `id, key, owner, checksum_algorithm, checksum_type, started_ms, ${STORAGE_CLASS}`;
const LISTED = `SELECT ${UPLOAD} FROM uploads WHERE bucket = ? AND (key, id) > (?, ?)`;
const ORDER = "ORDER BY key, id";

function uploadOf([id, key, owner, checksumAlgorithm, checksumType, startedMs, storageClass]: Cell[]): Upload {
  return {
    id: String(id),
    key: key as Uint8Array,
    owner: numberOrNull(owner),
    checksumAlgorithm: textOrNull(checksumAlgorithm),
    checksumType: textOrNull(checksumType),
    startedMs: Number(startedMs),
    storageClass: textOrNull(storageClass),
  };
}
