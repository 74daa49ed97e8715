import { Buffer } from "node:buffer";
import { type Acl, parseAcl } from "./access.ts";
import { type Bytes, type PartSource, readBodyFile, readParts } from "./bodies.ts";
import type { StoredParts, VersionId, Versioning } from "./changes.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "./statements.ts";

/** One version of an object as it is read. */
export interface StoredObject {
  version: VersionId;
  /** The number that no other version of its key has. */
  seq: number;
  size: number;
  /** Without quotes. */
  etag: string;
  modifiedMs: number;
  contentType: string;
  /** System and user headers that were stored with it, names in lower case. */
  headers: Record<string, string>;
  /** Digests that its writer stated, in base64 by their algorithm; `type` says whether they are of the whole or of its parts. */
  checksums: Record<string, string> | null;
  /** JSON, as it was written; null where there are none. */
  tags: string | null;
  /** The parts of an object that was uploaded in parts, in their order; null for other objects. */
  parts(): readonly ObjectPart[] | null;
  owner: number | null;
  /** Null where none was set. */
  acl: Acl | null;
  /** The bytes `first` to `last`, inclusive. */
  read(first: number, last: number): Promise<ReadableStream<Bytes> | Bytes>;
}

/** A part of an object: its bytes, and its checksum in base64 where the upload has an algorithm. */
export interface ObjectPart {
  size: number;
  checksum?: string;
}

/** The result of a look-up: an object, a delete marker, or nothing. */
type Found = StoredObject | { marker: VersionId } | null;

/** An entry of a listing. */
export interface ListedObject {
  key: string;
  size: number;
  etag: string;
  modifiedMs: number;
  owner: number | null;
  /** JSON, as it was written; null where there are none. */
  checksums: string | null;
  /** Null for STANDARD. */
  storageClass: string | null;
}

interface ListingPage {
  objects: ListedObject[];
  prefixes: Uint8Array[];
  /** Where the next page starts (inclusive), or null when this was the last. */
  next: Uint8Array | null;
}

/** How often a body that vanished between its row and its file (an overwrite in between) is looked up again. */
const REREADS = 5;

/** Reads objects and listings. */
export class Objects {
  constructor(private readonly folder: string, private readonly index: Statements) {}

  /** The current version of a key, or the one that is named. */
  find(bucket: number, versioning: Versioning, key: Uint8Array, version: string | null): Found {
    const which = version === null ? "" : version === "null" ? "AND is_null = 1" : "AND is_null = 0 AND seq = ?";
    const parameters = version === null || version === "null" ? [bucket, key] : [bucket, key, versionNumber(version)];
    const select = (table: string, isMarker: string) =>
      `SELECT ${OBJECT}, ${isMarker} FROM ${table} LEFT JOIN bodies ON bodies.id = ${table}.body
       WHERE bucket = ? AND key = ? ${which} ORDER BY seq DESC LIMIT 1`;
    const current = this.index.record<ObjectRow>(select("objects", "0 AS is_marker"), ...parameters);
    if (current) return this.#object(current, versioning);
    const old = this.index.record<ObjectRow>(select("history", "is_marker"), ...parameters);
    if (old?.is_marker) return { marker: versionIdOf(old.seq, old.is_null, versioning) };
    // Without a marker the key was deleted where none are used: its versions are history, and it is just absent.
    return old && version !== null ? this.#object(old, versioning) : null;
  }

  /** Finds an object and starts reading it; a body that an overwrite removed meanwhile is looked up again. */
  async open(
    find: () => StoredObject,
    read: (object: StoredObject) => Promise<ReadableStream<Bytes> | Bytes>,
  ): Promise<{ found: StoredObject; body: ReadableStream<Bytes> | Bytes }> {
    for (let attempt = 0;; attempt++) {
      const found = find();
      try {
        return { found, body: await read(found) };
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound) || attempt === REREADS) throw error;
      }
    }
  }

  /**
   * A page of the current objects of a bucket in the binary order of their keys. Keys with the same text between the
   * prefix and the delimiter are one common prefix; the index is queried again after each, so that a prefix with a
   * million keys costs as much as one with a single key. No delimiter may consist of 0xff alone, which is not in UTF-8.
   *
   * @param query `from` is the first key; null: the page is empty
   */
  list(bucket: number, { prefix, delimiter, from, limit }: {
    readonly prefix: Uint8Array;
    readonly delimiter: Uint8Array;
    readonly from: Uint8Array | null;
    readonly limit: number;
  }): ListingPage {
    const page: ListingPage = { objects: [], prefixes: [], next: null };
    if (!from) return page;
    const start = compareBytes(from, prefix) < 0 ? prefix : from;
    const end = successor(prefix);
    // One row more than the page shows where the next page starts.
    const asked = [bucket, start, limit + 1, ...end ? [end] : []];
    // All rows at once: half the cost of one by one.
    const rows = delimiter.length === 0 ? this.index.rows(scan(before(end, "?4")), ...asked) : this.index.rows(
      skipScan(before(end, "?7")),
      ...asked.slice(0, 3),
      ...[delimiter, successor(delimiter), prefix.length + 1, ...asked.slice(3)],
    );
    for (const row of rows) {
      const [key, cut, size, etag, modifiedMs, owner, checksums, storageClass] = row as [
        string | Uint8Array,
        ...Cell[],
      ];
      if (page.objects.length + page.prefixes.length === limit) return { ...page, next: keyBytes(key) };
      if (cut === 0) {
        page.objects.push({
          key: typeof key === "string" ? key : UTF8.decode(key),
          size: Number(size),
          etag: String(etag),
          modifiedMs: Number(modifiedMs),
          owner: numberOrNull(owner),
          checksums: textOrNull(checksums),
          storageClass: textOrNull(storageClass),
        });
      } else page.prefixes.push(keyBytes(key).slice(0, prefix.length + Number(cut) - 1 + delimiter.length));
    }
    return page;
  }

  #object(
    { is_null, is_marker: _, headers, data, file, checksums, parts, acl, ...row }: ObjectRow,
    versioning: Versioning,
  ) {
    const storedParts = (): StoredParts["parts"] | null => parts === null ? null : JSON.parse(parts).parts;
    return {
      ...row,
      version: versionIdOf(row.seq, is_null, versioning),
      headers: headers === null ? {} : JSON.parse(headers),
      checksums: checksums === null ? null : JSON.parse(checksums),
      parts: storedParts,
      acl: parseAcl(acl),
      read: async (first: number, last: number) => {
        const all = storedParts();
        if (all) return await readParts(this.folder, this.#partSources(all), first, last);
        if (file !== null) return await readBodyFile(`${this.folder}/${file}`, first, last, row.size);
        if (data === null) throw new Deno.errors.NotFound("the object's body is gone");
        return data.subarray(first, last + 1);
      },
    };
  }

  /**
   * Only the last part may be small, so at most one is in the index.
   *
   * @throws {Deno.errors.NotFound} when it is gone
   */
  #partSources(parts: StoredParts["parts"]): PartSource[] {
    return parts.map((part) => {
      if ("file" in part) return part;
      const row = this.index.row("SELECT data FROM bodies WHERE id = ?", part.body);
      if (!row) throw new Deno.errors.NotFound("a part's body is gone");
      return { data: row[0] as Bytes, size: part.size };
    });
  }
}

/** A version as its row holds it: headers, checksums, parts and the access list are JSON. */
type ObjectRow =
  & Pick<StoredObject, "seq" | "size" | "etag" | "modifiedMs" | "contentType" | "tags" | "owner">
  & Record<"headers" | "checksums" | "parts" | "acl" | "file", string | null>
  & { is_null: number; is_marker: number; data: Bytes | null };

const OBJECT = `seq, is_null, size, etag, modified_ms AS modifiedMs, content_type AS contentType, headers, data, file,
  checksums, tags, parts, owner, acl`;
/** The storage class among the stored headers of a row; null for STANDARD. */
export const STORAGE_CLASS = `headers ->> '$."x-amz-storage-class"'`;
const LISTED = `size, etag, modified_ms, owner, checksums, ${STORAGE_CLASS}`;

/**
 * A key as text, which is read at half the cost of a blob; one with a NUL, at which SQLite's text would end, as a blob.
 */
function textOf(key: string): string {
  return `iif(instr(${key}, x'00'), ${key}, CAST(${key} AS TEXT))`;
}

function keyBytes(key: string | Uint8Array): Uint8Array {
  return typeof key === "string" ? ENCODER.encode(key) : key;
}

const ENCODER = new TextEncoder();
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

function scan(beforeEnd: string): string {
  return `SELECT ${textOf("key")}, 0, ${LISTED} FROM objects WHERE bucket = ?1 AND key >= ?2 ${beforeEnd}
    ORDER BY key LIMIT ?3`;
}

function before(end: Uint8Array | null, parameter: string): string {
  return end ? `AND objects.key < ${parameter}` : "";
}

/**
 * The first key from ?2 on and then, ?3 times in all, the first one after it, or after its common prefix where the
 * delimiter ?4 is in the rest behind the prefix, which starts at the byte ?6 (from 1). `cut` is the position of the
 * delimiter in that rest (from 1), or 0; ?5 is the first byte string after all with the delimiter as prefix.
 */
function skipScan(beforeEnd: string): string {
  const next = (from: string) =>
    `(SELECT objects.key FROM objects WHERE bucket = ?1 AND objects.key >= ${from} ${beforeEnd} ORDER BY objects.key LIMIT 1)`;
  const cut = "instr(substr(page.key, ?6), ?4)";
  const behind = `CAST(CASE ${cut} WHEN 0 THEN page.key || x'00'
    ELSE substr(page.key, 1, ?6 + ${cut} - 2) || ?5 END AS BLOB)`;
  return `WITH RECURSIVE page (key, n) AS (
      SELECT ${next("?2")}, 1 UNION ALL SELECT ${next(behind)}, n + 1 FROM page WHERE page.key IS NOT NULL AND n < ?3
    )
    SELECT iif(${cut}, page.key, ${textOf("page.key")}), ${cut}, ${LISTED} FROM page
    LEFT JOIN objects ON ${cut} = 0 AND bucket = ?1 AND objects.key = page.key
    WHERE page.key IS NOT NULL ORDER BY n`;
}

/** How S3 names the version of a row. */
export function versionIdOf(seq: Cell, isNull: Cell, versioning: Versioning): VersionId {
  if (versioning === "off") return null;
  return isNull === 1 ? "null" : String(seq);
}

/** The number of a version id; -1, which no version has, for an invalid one. */
export function versionNumber(version: string): number {
  return /^[1-9][0-9]{0,15}$/.test(version) ? Number(version) : -1;
}

/** The first byte string after all with this prefix; null where there is none. */
export function successor(prefix: Uint8Array): Uint8Array | null {
  let end = prefix.length;
  while (end > 0 && prefix[end - 1] === 0xff) end--;
  if (end === 0) return null;
  const behind = prefix.slice(0, end);
  behind[end - 1]++;
  return behind;
}

/** The order of two byte strings: negative, zero or positive. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

/** The index of a byte string in another one, searched from an index on; -1 where it is not found. */
export function indexOfBytes(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  // Text is searched in linear time, however long the delimiter and however often it nearly matches.
  return latin1(bytes).indexOf(latin1(wanted), from);
}

/** A string with one character for each byte. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
