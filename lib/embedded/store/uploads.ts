import type { Cell, Statements } from "@/lib/embedded/store/index.ts";
import { compareBytes, indexOfBytes, successor } from "@/lib/embedded/store/objects.ts";

/** An upload in parts that is under way. */
export interface Upload {
  id: string;
  key: Uint8Array;
  owner: number | null;
  checksumAlgorithm: string | null;
  checksumType: string | null;
  startedMs: number;
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

export interface UploadsPage {
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
    let [from, fromId] = [after.key, after.upload];
    if (compareBytes(from, prefix) < 0) [from, fromId] = [prefix, ""];
    else if (fromId === "" && from.length > 0) [from, fromId] = [behind(from), ""];
    scan: for (;;) {
      const rows = end
        ? this.#index.each(`${LISTED} AND key < ? ${ORDER}`, bucket, from, fromId, end)
        : this.#index.each(`${LISTED} ${ORDER}`, bucket, from, fromId);
      for (const row of rows) {
        const upload = uploadOf(row);
        const cut = delimiter.length === 0 ? -1 : indexOfBytes(upload.key, delimiter, prefix.length);
        const common = cut < 0 ? null : upload.key.slice(0, cut + delimiter.length);
        const isBehind = common !== null && compareBytes(common, after.key) === 0;
        if (!isBehind && page.uploads.length + page.prefixes.length === limit) {
          page.next = last;
          return page;
        }
        if (!common) {
          page.uploads.push(upload);
          last = { key: upload.key, upload: upload.id };
          continue;
        }
        if (!isBehind) page.prefixes.push(common);
        last = { key: common, upload: "" };
        const next = successor(common);
        if (!next) return page;
        [from, fromId] = [next, ""];
        continue scan;
      }
      return page;
    }
  }
}

const UPLOAD = "id, key, owner, checksum_algorithm, checksum_type, started_ms";
const LISTED = `SELECT ${UPLOAD} FROM uploads WHERE bucket = ? AND (key, id) > (?, ?)`;
const ORDER = "ORDER BY key, id";

function uploadOf([id, key, owner, checksumAlgorithm, checksumType, startedMs]: Cell[]): Upload {
  return {
    id: String(id),
    key: key as Uint8Array,
    owner: owner === null ? null : Number(owner),
    checksumAlgorithm: checksumAlgorithm === null ? null : String(checksumAlgorithm),
    checksumType: checksumType === null ? null : String(checksumType),
    startedMs: Number(startedMs),
  };
}

/** The first key behind one. */
function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
