import { STORAGE_CLASS, successor } from "./objects.ts";
import type { Statements } from "./statements.ts";
import { type EntriesPage, pageOf } from "./versions.ts";

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
