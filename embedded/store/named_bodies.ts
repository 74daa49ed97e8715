import type { StoredParts } from "./changes.ts";
import type { Cell, Statements } from "./statements.ts";

/** Where the bytes of a part are: a file below the data folder, a row of the index, or nowhere. */
export type BodyLocation = { file: string } | { body: number } | null;

/** A body that the index names, with what its bytes must be. */
export interface NamedBody {
  /** Whose it is, as `tenant/bucket/key`, with its version or part. */
  readonly of: string;
  readonly size: number;
  /** Without quotes: an MD5, or that of the MD5s of the parts. */
  readonly etag: string;
  /** In their order; one, unless the object came in parts. */
  readonly parts: readonly { readonly location: BodyLocation; readonly size: number }[];
  /** Whether the index still says so. */
  isNamed(): boolean;
}

/** How many rows are read at a time: between two pages the index may forget what was deleted meanwhile. */
const PAGE_ROWS = 200;

/** Every body that an index names: of current versions, of older ones, and of the parts of open uploads. */
export function* namedBodies(index: Statements): Generator<NamedBody> {
  yield* versions(index, "objects", "0");
  yield* versions(index, "history", "is_marker");
  yield* uploadedParts(index);
}

function* versions(index: Statements, table: "objects" | "history", marker: string): Generator<NamedBody> {
  const select = `SELECT bucket, key, seq, size, etag, body, file, parts FROM ${table}`;
  const rule = `AND ${marker} = 0 ORDER BY bucket, key, seq DESC LIMIT ${PAGE_ROWS}`;
  let after: Cell[] = [-1, new Uint8Array(), 0];
  for (;;) {
    // The older versions of the last key, then the keys after it: both are ranges of the primary key.
    let page = index.rows(`${select} WHERE bucket = ? AND key = ? AND seq < ? ${rule}`, ...after);
    if (page.length === 0) page = index.rows(`${select} WHERE (bucket, key) > (?, ?) ${rule}`, ...after.slice(0, 2));
    for (const row of page) {
      const [bucket, key, seq, size, etag, body, file, parts] = row;
      yield {
        of: `${bucketName(index, bucket)}/${printable(key)} (version ${seq})`,
        size: Number(size),
        etag: String(etag),
        parts: parts === null
          ? [{ location: locationOf(body, file), size: Number(size) }]
          : (JSON.parse(String(parts)) as StoredParts).parts.map((part) => ({ location: part, size: part.size })),
        isNamed: () =>
          ["objects", "history"].some((now) =>
            index.row(
              `SELECT 1 FROM ${now} WHERE bucket = ? AND key = ? AND seq = ? AND body IS ? AND file IS ? AND parts IS ?`,
              bucket,
              key,
              seq,
              body,
              file,
              parts,
            ) !== null
          ),
      };
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.slice(0, 3);
  }
}

function* uploadedParts(index: Statements): Generator<NamedBody> {
  let after: Cell[] = ["", 0];
  for (;;) {
    const page = index.rows(
      `SELECT upload, number, parts.size, etag, body, file, bucket, key FROM parts LEFT JOIN uploads ON id = upload
       WHERE (upload, number) > (?, ?) ORDER BY upload, number LIMIT ${PAGE_ROWS}`,
      ...after,
    );
    for (const [upload, number, size, etag, body, file, bucket, key] of page) {
      yield {
        of: `${bucketName(index, bucket)}/${printable(key)} (part ${number} of the upload ${upload})`,
        size: Number(size),
        etag: String(etag),
        parts: [{ location: locationOf(body, file), size: Number(size) }],
        isNamed: () =>
          index.row(
            "SELECT 1 FROM parts WHERE upload = ? AND number = ? AND body IS ? AND file IS ?",
            upload,
            number,
            body,
            file,
          ) !== null,
      };
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.slice(0, 2);
  }
}

function locationOf(body: Cell, file: Cell): BodyLocation {
  if (file !== null) return { file: String(file) };
  return body === null ? null : { body: Number(body) };
}

function bucketName(index: Statements, bucket: Cell): string {
  const row = index.row(
    "SELECT tenants.name, buckets.name FROM buckets LEFT JOIN tenants ON tenants.id = tenant WHERE buckets.id = ?",
    bucket,
  );
  return row ? `${row[0]}/${row[1]}` : `bucket ${bucket}`;
}

/** A key on one line, whatever is in it. */
function printable(key: Cell): string {
  if (!(key instanceof Uint8Array)) return "?";
  return new TextDecoder().decode(key).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => encodeURIComponent(character));
}
