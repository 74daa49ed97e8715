import { createHash, type Hash } from "node:crypto";
import type { StoredParts } from "./changes.ts";
import type { Cell, Statements } from "./statements.ts";

/** Where the bytes of a part are: a file below the data folder, a row of the index, or nowhere. */
type BodyLocation = { file: string } | { body: number } | null;

/** A body that the index names, with what its bytes must be. */
interface NamedBody {
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
            index.row(`SELECT 1 FROM ${now} WHERE ${STILL}`, bucket, key, seq, body, file, parts) !== null
          ),
      };
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.slice(0, 3);
  }
}

const STILL = "bucket = ? AND key = ? AND seq = ? AND body IS ? AND file IS ? AND parts IS ?";

function* uploadedParts(index: Statements): Generator<NamedBody> {
  const stillNamed = "SELECT 1 FROM parts WHERE upload = ? AND number = ? AND body IS ? AND file IS ?";
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
        isNamed: () => index.row(stillNamed, upload, number, body, file) !== null,
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

/** How much of a file is read at a time. */
const READ_BYTES = 1024 * 1024;

/** How a stored body differs from its entry in the index, in a few words; null where every byte matches. */
export function bodyFault(folder: string, index: Statements, { size, etag, parts }: NamedBody): string | null {
  const whole = createHash("md5");
  let length = 0;
  for (const part of parts) {
    const hash = createHash("md5");
    const read = readPart(folder, index, part.location, hash);
    if (typeof read === "string") return read;
    const where = locationText(part.location);
    if (read !== part.size) return `${where} has ${read} bytes, not ${part.size}`;
    length += read;
    const digest = hash.digest("hex");
    if (/^[0-9a-f]{32}$/.test(etag)) {
      if (digest !== etag) return `${where} is damaged (its MD5 is ${digest}, not ${etag})`;
    } else whole.update(digest, "hex");
  }
  if (length !== size) return `its parts have ${length} bytes, not ${size}`;
  if (!/^[0-9a-f]{32}-[0-9]+$/.test(etag)) return null;
  const digest = `${whole.digest("hex")}-${parts.length}`;
  return digest === etag ? null : `one of its ${parts.length} parts is damaged (their MD5 is ${digest}, not ${etag})`;
}

/**
 * Feeds the bytes of a part to a digest.
 *
 * @returns their number, or the reason why they cannot be read
 */
function readPart(folder: string, index: Statements, location: BodyLocation, hash: Hash): number | string {
  if (location === null) return "it has no body";
  if ("body" in location) {
    const data = index.row("SELECT data FROM bodies WHERE id = ?", location.body)?.[0];
    if (!(data instanceof Uint8Array)) return `${locationText(location)} is missing`;
    hash.update(data);
    return data.length;
  }
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(`${folder}/${location.file}`, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `${location.file} is missing`;
    return `${location.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  }
  try {
    const buffer = new Uint8Array(READ_BYTES);
    let length = 0;
    for (let read: number | null; (read = file.readSync(buffer)) !== null; length += read) {
      hash.update(buffer.subarray(0, read));
    }
    return length;
  } catch (error) {
    return `${location.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  } finally {
    file.close();
  }
}

function locationText(location: BodyLocation): string {
  if (location === null) return "nothing";
  return "file" in location ? location.file : `row ${location.body} of the index`;
}
