import { createHash, type Hash, randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { exists, removeIfExists, syncFolder, textIfExists, writeDurably } from "@/lib/std/files.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { member, parsedJson } from "@/lib/std/untrusted.ts";
import { BODY_FOLDER, bodyFolderName } from "./bodies.ts";
import type { StoredParts } from "./changes.ts";
import { type Cell, Statements } from "./statements.ts";

/** The file that says which index they belong to. */
export const BODY_MARK = "bodies.json";

/** Files that exist only beside an index. */
const NEEDING_AN_INDEX = ["samples.done", BODY_MARK];

/** The tables that may name a file of a body. */
export const NAMING_TABLES = ["objects", "history", "parts", "part_bodies"] as const;

/** The identity of an index, stored in it and beside its bodies: its random id, and its number of starts. */
export interface BodyMark {
  readonly index: string;
  readonly starts: number;
}

/**
 * Whether a data folder holds what an index must describe. Such a folder without an index is damaged: an index that is
 * created now would know none of the bodies.
 */
export function needsIndex(folder: string): boolean {
  return NEEDING_AN_INDEX.some((name) => exists(`${folder}/${name}`)) || hasBodies(folder);
}

/** The error of a start on bodies without an index. `what` is how the index is found: missing, empty. */
export function missingIndexError(folder: string, what: string): DataFolderError {
  return startError(folder, `holds bodies, but its index.db is ${what}`);
}

/**
 * The mismatch between an index, the bodies beside it and their mark, as the end of a sentence about the folder; null
 * where they belong together.
 */
export function bindingMismatch(
  folder: string,
  index: Statements,
  identity: BodyMark | null,
  mark: BodyMark | null,
): string | null {
  const older = "has an index.db that is older than its bodies";
  // The mark of one start alone is what a first start left that was cut off.
  if (identity === null) return mark && mark.starts > 1 ? older : null;
  if (mark === null) {
    const named = NAMING_TABLES.some((table) => index.row(`SELECT 1 FROM ${table} WHERE file IS NOT NULL LIMIT 1`));
    if (!hasBodies(folder) && !named) return null;
    return `does not say whether index.db and bodies belong together (${BODY_MARK} is missing)`;
  }
  if (mark.index !== identity.index) return "has an index.db that is not the one of its bodies";
  return mark.starts > identity.starts ? older : null;
}

/**
 * Binds the index of a folder to the bodies beside it, and counts the start in both. It must run before the sweep: an
 * index from another folder, or an older copy, does not name the newest bodies.
 *
 * @throws {DataFolderError} when the index is not that of the bodies, or older than they are.
 */
export function bindBodies(folder: string, index: Statements): void {
  const mark = readMark(folder);
  const identity = identityOf(index);
  const fault = bindingMismatch(folder, index, identity, mark);
  if (fault !== null) throw startError(folder, fault);
  if (identity === null) {
    const created: BodyMark = { index: mark?.index ?? randomUUID(), starts: 1 };
    writeMark(folder, created);
    index.run("INSERT INTO identity VALUES (?, ?)", created.index, created.starts);
    return;
  }
  const next: BodyMark = { index: identity.index, starts: identity.starts + 1 };
  // The index first: cut off here, it is ahead of the mark, which is harmless.
  index.run("UPDATE identity SET starts = ?", next.starts);
  writeMark(folder, next);
}

/** The identity that an index holds; null before its first start with bodies. */
export function identityOf(index: Statements): BodyMark | null {
  const row = index.row("SELECT id, starts FROM identity");
  return row && { index: String(row[0]), starts: Number(row[1]) };
}

/**
 * The mark beside the bodies of a folder; null where there is none.
 *
 * @throws {DataFolderError} when it is damaged
 */
export function readMark(folder: string): BodyMark | null {
  const path = `${folder}/${BODY_MARK}`;
  const text = textIfExists(path);
  if (text === null) return null;
  const mark = parsedJson(text);
  const [index, starts] = [member(mark, "index"), member(mark, "starts")];
  if (typeof index === "string" && typeof starts === "number") return { index, starts };
  throw new DataFolderError(`The file ${path} is damaged: put it back from a backup.`);
}

/** Writes the mark beside the bodies of a folder. */
export function writeMark(folder: string, mark: BodyMark): void {
  writeDurably(`${folder}/${BODY_MARK}`, new TextEncoder().encode(`${JSON.stringify(mark)}\n`));
}

function startError(folder: string, what: string): DataFolderError {
  return new DataFolderError(
    `The data folder ${folder} ${what}: nothing was changed. Start on a whole backup, or empty the folder with ` +
      `"deno task reset".`,
  );
}

function hasBodies(folder: string): boolean {
  try {
    for (const hour of Deno.readDirSync(`${folder}/${BODY_FOLDER}`)) {
      if (!hour.isDirectory) continue;
      for (const _ of Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)) return true;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return false;
}

/**
 * Opens the folder of bodies for a kernel lock: a copy of bodies takes the lock shared, a removal takes it exclusively.
 * The lock ends with its process, so that an interrupted copy blocks nothing.
 */
function openBodies(folder: string): Deno.FsFile {
  return Deno.openSync(`${folder}/${BODY_FOLDER}`, { read: true });
}

/**
 * Retains every present body until the pin is released, deleted ones included: the store defers their removal. Every
 * body that a copy of the index names stays readable until then.
 */
export async function pinBodies(folder: string): Promise<{ release(): void }> {
  const bodies = openBodies(folder);
  await bodies.lock(false);
  return { release: () => bodies.close() };
}

/**
 * Removes bodies unless they are pinned. Where the folder is gone, or its file system has no locks, no process can have
 * pinned them.
 *
 * @returns whether it removed them
 */
export function whileUnpinned(folder: string, remove: () => void): boolean {
  let opened: Deno.FsFile | null = null;
  try {
    opened = openBodies(folder);
  } catch (error) {
    // Where it cannot be opened for another reason, such as no free file descriptor, another process may have pinned
    // them.
    if (!(error instanceof Deno.errors.NotFound)) return false;
  }
  using bodies = opened;
  if (bodies && isPinned(bodies)) return false;
  remove();
  return true;
}

function isPinned(bodies: Deno.FsFile): boolean {
  try {
    return !bodies.tryLockSync(true);
  } catch {
    return false;
  }
}

/**
 * Removes the files that no row names: bodies whose upload ended with the process, and those whose row was deleted just
 * before it. Only folders that may have changed since the last sweep are searched, so a start does not grow with the
 * store. A new index sweeps nothing: it cannot know which files belong to it.
 */
export function sweepBodies(folder: string, index: DatabaseSync, now = new Date()): void {
  const statements = new Statements(index);
  Deno.mkdirSync(`${folder}/${BODY_FOLDER}`, { recursive: true, mode: 0o700 });
  syncFolder(folder);
  const isDone = whileUnpinned(folder, () => {
    for (const [file] of statements.each("SELECT file FROM garbage")) removeIfExists(`${folder}/${file}`);
  });
  if (isDone) statements.run("DELETE FROM garbage");

  const through = statements.row("SELECT through FROM swept")?.[0] ?? null;
  for (const hour of Deno.readDirSync(`${folder}/${BODY_FOLDER}`)) {
    if (through === null || !hour.isDirectory || hour.name < through) continue;
    for (const entry of Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)) {
      const file = `${BODY_FOLDER}/${hour.name}/${entry.name}`;
      const isNamed = [...NAMING_TABLES, "garbage"].some((table) =>
        statements.row(`SELECT 1 FROM ${table} WHERE file = ?`, file)
      );
      if (!isNamed) removeIfExists(`${folder}/${file}`);
    }
  }
  statements.run("DELETE FROM swept");
  statements.run("INSERT INTO swept VALUES (?)", bodyFolderName(now));
}

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
  // The older versions of the last key, then the keys after it: both are ranges of the primary key.
  const rows = pages([-1, new Uint8Array(), 0], (...after) => {
    const older = index.rows(`${select} WHERE bucket = ? AND key = ? AND seq < ? ${rule}`, ...after.slice(0, 3));
    return older.length > 0
      ? older
      : index.rows(`${select} WHERE (bucket, key) > (?, ?) ${rule}`, ...after.slice(0, 2));
  });
  for (const [bucket, key, seq, size, etag, body, file, parts] of rows) {
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
}

const STILL = "bucket = ? AND key = ? AND seq = ? AND body IS ? AND file IS ? AND parts IS ?";

function* uploadedParts(index: Statements): Generator<NamedBody> {
  const stillNamed = "SELECT 1 FROM parts WHERE upload = ? AND number = ? AND body IS ? AND file IS ?";
  const rows = pages(["", 0], (upload, number) =>
    index.rows(
      `SELECT upload, number, parts.size, etag, body, file, bucket, key FROM parts LEFT JOIN uploads ON id = upload
       WHERE (upload, number) > (?, ?) ORDER BY upload, number LIMIT ${PAGE_ROWS}`,
      upload,
      number,
    ));
  for (const [upload, number, size, etag, body, file, bucket, key] of rows) {
    yield {
      of: `${bucketName(index, bucket)}/${printable(key)} (part ${number} of the upload ${upload})`,
      size: Number(size),
      etag: String(etag),
      parts: [{ location: locationOf(body, file), size: Number(size) }],
      isNamed: () => index.row(stillNamed, upload, number, body, file) !== null,
    };
  }
}

/** The rows of pages, each of which `read` returns from the last row of the one before. */
function* pages(before: Cell[], read: (...last: Cell[]) => Cell[][]): Generator<Cell[]> {
  for (let page = read(...before); page.length > 0; page = read(...page[page.length - 1])) yield* page;
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
  try {
    using file = Deno.openSync(`${folder}/${location.file}`, { read: true });
    const buffer = new Uint8Array(READ_BYTES);
    let length = 0;
    for (let read: number | null; (read = file.readSync(buffer)) !== null; length += read) {
      hash.update(buffer.subarray(0, read));
    }
    return length;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return `${location.file} is missing`;
    return `${location.file} cannot be read (${error instanceof Error ? error.message : "unknown reason"})`;
  }
}

function locationText(location: BodyLocation): string {
  if (location === null) return "nothing";
  return "file" in location ? location.file : `row ${location.body} of the index`;
}
