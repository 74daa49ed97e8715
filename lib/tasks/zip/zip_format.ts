import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { yielding } from "@/lib/std/concurrency.ts";
import { EntryNames, ERRORS_NAME } from "./zip_names.ts";

/**
 * Records of a ZIP archive of stored entries (APPNOTE.TXT 6.3.10). The length of each record depends only on the name, the
 * size and the offset of its entry, so the length of an archive is known before its bytes are.
 */

/** Facts about an entry in its records. */
interface EntryRecord {
  /** The name in UTF-8; a folder's ends with a slash. */
  readonly name: Uint8Array;
  /** bytes */
  readonly size: number;
  /** ms since 1970 */
  readonly modifiedMs: number;
}

/** The end of an archive. */
interface EndRecord {
  readonly entries: number;
  /** Offset of the central directory, bytes. */
  readonly centralOffset: number;
  /** Length of the central directory, bytes. */
  readonly centralBytes: number;
}

/** This value of a field of 32 bits says that the Zip64 extra field has the real one (section 4.5.3). */
export const ZIP64_LIMIT = 0xffff_ffff;
const ZIP64_ENTRIES = 0xffff;

const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const DESCRIPTOR_BYTES = 16;
const ZIP64_DESCRIPTOR_BYTES = 24;
const END_BYTES = 22;
const ZIP64_END_BYTES = 56 + 20;
const TIMESTAMP_BYTES = 9;
const ZIP64_SIZES_BYTES = 16;

const VERSION = 20;
const VERSION_ZIP64 = 45;
/** Unix, so that the upper half of the external attributes is a mode. */
const MADE_BY = (3 << 8) | VERSION_ZIP64;
/** The CRC follows the bytes in a data descriptor (bit 3). */
const FLAG_DESCRIPTOR = 1 << 3;
/** The name is in UTF-8 (bit 11). */
const FLAG_UTF8 = 1 << 11;
const FILE_ATTRIBUTES = (0o100644 << 16) >>> 0;
/** The lowest bits are those of MS-DOS. */
const FOLDER_ATTRIBUTES = ((0o040755 << 16) | 0x10) >>> 0;
const SLASH = 0x2f;

/** Length of a local header, bytes. */
function localHeaderBytes(nameBytes: number, size: number): number {
  return LOCAL_BYTES + nameBytes + TIMESTAMP_BYTES + (isLarge(size) ? 4 + ZIP64_SIZES_BYTES : 0);
}

/** Length of a data descriptor, bytes. An empty entry has none: its CRC is known before. */
function descriptorBytes(size: number): number {
  if (size === 0) return 0;
  return isLarge(size) ? ZIP64_DESCRIPTOR_BYTES : DESCRIPTOR_BYTES;
}

/** Length of an entry with its header and its data descriptor, bytes. */
export function entryBytes(nameBytes: number, size: number): number {
  return localHeaderBytes(nameBytes, size) + size + descriptorBytes(size);
}

/** Length of a record of the central directory, bytes. @param offset of the local header of the entry, bytes */
export function centralRecordBytes(nameBytes: number, size: number, offset: number): number {
  return CENTRAL_BYTES + nameBytes + TIMESTAMP_BYTES + zip64Bytes(size, offset);
}

/** Length of the records behind the central directory, bytes. */
export function endBytes(end: EndRecord): number {
  return END_BYTES + (needsZip64End(end) ? ZIP64_END_BYTES : 0);
}

/** The header in front of the bytes of an entry. */
export function localHeader(entry: EntryRecord): Uint8Array<ArrayBuffer> {
  const large = isLarge(entry.size);
  const record = Buffer.alloc(localHeaderBytes(entry.name.length, entry.size));
  record.writeUInt32LE(0x04034b50, 0);
  // The CRC and the sizes are 0 where a data descriptor follows (section 4.4.4).
  const at = writeEntry(record, 4, LOCAL_BYTES, entry, { crc: 0, size: large ? ZIP64_LIMIT : 0, isZip64: large });
  // It also says that the data descriptor has sizes of 64 bits (section 4.3.9.2).
  if (large) writeZip64Head(record, at, ZIP64_SIZES_BYTES);
  return record;
}

/** The CRC-32 and the size behind the bytes of an entry; empty for an empty entry. */
export function dataDescriptor(size: number, crc: number): Uint8Array<ArrayBuffer> {
  const record = Buffer.alloc(descriptorBytes(size));
  if (size === 0) return record;
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(crc, 4);
  if (isLarge(size)) {
    writeUInt64(record, 8, size);
    writeUInt64(record, 16, size);
  } else {
    record.writeUInt32LE(size, 8);
    record.writeUInt32LE(size, 12);
  }
  return record;
}

/** A record of the central directory. @param offset of the local header of the entry, bytes */
export function centralRecord(entry: EntryRecord, crc: number, offset: number): Uint8Array<ArrayBuffer> {
  const { name, size } = entry;
  const large = isLarge(size);
  const hasLargeOffset = isLarge(offset);
  const isZip64 = large || hasLargeOffset;
  const isFolder = name.at(-1) === SLASH;
  const record = Buffer.alloc(centralRecordBytes(name.length, size, offset));
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(MADE_BY, 4);
  let at = writeEntry(record, 6, CENTRAL_BYTES, entry, { crc, size: large ? ZIP64_LIMIT : size, isZip64 });
  record.writeUInt32LE(isFolder ? FOLDER_ATTRIBUTES : FILE_ATTRIBUTES, 38);
  record.writeUInt32LE(hasLargeOffset ? ZIP64_LIMIT : offset, 42);
  if (!isZip64) return record;
  at = writeZip64Head(record, at, zip64Bytes(size, offset) - 4);
  if (large) {
    writeUInt64(record, at, size);
    writeUInt64(record, at + 8, size);
    at += ZIP64_SIZES_BYTES;
  }
  if (hasLargeOffset) writeUInt64(record, at, offset);
  return record;
}

/**
 * Writes what both records of an entry have in common, from their version on, and the name and its timestamp.
 *
 * @param headBytes length of the record without its name and extra fields
 * @returns offset of the next extra field
 */
function writeEntry(
  record: Buffer,
  at: number,
  headBytes: number,
  { name, size: bytes, modifiedMs }: EntryRecord,
  { crc, size, isZip64 }: { readonly crc: number; readonly size: number; readonly isZip64: boolean },
): number {
  record.writeUInt16LE(isZip64 ? VERSION_ZIP64 : VERSION, at);
  record.writeUInt16LE(bytes > 0 ? FLAG_UTF8 | FLAG_DESCRIPTOR : FLAG_UTF8, at + 2);
  // Method 0: stored.
  writeDosTime(record, at + 6, modifiedMs);
  record.writeUInt32LE(crc, at + 10);
  record.writeUInt32LE(size, at + 14);
  record.writeUInt32LE(size, at + 18);
  record.writeUInt16LE(name.length, at + 22);
  record.writeUInt16LE(record.length - headBytes - name.length, at + 24);
  record.set(name, headBytes);
  return writeTimestamp(record, headBytes + name.length, modifiedMs);
}

/** The records behind the central directory, in Zip64 form too where a value does not fit. */
export function endRecords(end: EndRecord): Uint8Array<ArrayBuffer> {
  const { entries, centralOffset, centralBytes } = end;
  const record = Buffer.alloc(endBytes(end));
  let at = 0;
  if (needsZip64End(end)) {
    record.writeUInt32LE(0x06064b50, 0);
    // Without this field and the signature.
    writeUInt64(record, 4, 44);
    record.writeUInt16LE(MADE_BY, 12);
    record.writeUInt16LE(VERSION_ZIP64, 14);
    writeUInt64(record, 24, entries);
    writeUInt64(record, 32, entries);
    writeUInt64(record, 40, centralBytes);
    writeUInt64(record, 48, centralOffset);
    record.writeUInt32LE(0x07064b50, 56);
    writeUInt64(record, 64, centralOffset + centralBytes);
    record.writeUInt32LE(1, 72);
    at = ZIP64_END_BYTES;
  }
  record.writeUInt32LE(0x06054b50, at);
  record.writeUInt16LE(Math.min(entries, ZIP64_ENTRIES), at + 8);
  record.writeUInt16LE(Math.min(entries, ZIP64_ENTRIES), at + 10);
  record.writeUInt32LE(Math.min(centralBytes, ZIP64_LIMIT), at + 12);
  record.writeUInt32LE(Math.min(centralOffset, ZIP64_LIMIT), at + 16);
  return record;
}

/** Whether a length or an offset needs 64 bits. */
const isLarge = (bytes: number) => bytes >= ZIP64_LIMIT;

function needsZip64End({ entries, centralOffset, centralBytes }: EndRecord): boolean {
  return entries >= ZIP64_ENTRIES || centralOffset >= ZIP64_LIMIT || centralBytes >= ZIP64_LIMIT;
}

/** Length of the Zip64 extra field of a record of the central directory, bytes; 0 where it has none. */
function zip64Bytes(size: number, offset: number): number {
  const values = (isLarge(size) ? ZIP64_SIZES_BYTES : 0) + (isLarge(offset) ? 8 : 0);
  return values > 0 ? 4 + values : 0;
}

/** @returns offset of its values */
function writeZip64Head(record: Buffer, at: number, valueBytes: number): number {
  record.writeUInt16LE(0x0001, at);
  record.writeUInt16LE(valueBytes, at + 2);
  return at + 4;
}

/** The extra field "extended timestamp" of Info-ZIP: seconds since 1970 in UTC. @returns where it ends */
function writeTimestamp(record: Buffer, at: number, modifiedMs: number): number {
  record.writeUInt16LE(0x5455, at);
  record.writeUInt16LE(5, at + 2);
  record.writeUInt8(1, at + 4);
  record.writeInt32LE(Math.min(Math.max(Math.floor(modifiedMs / 1000), 0), 0x7fff_ffff), at + 5);
  return at + TIMESTAMP_BYTES;
}

const DOS_FIRST_MS = Date.UTC(1980, 0, 1);
const DOS_LAST_MS = Date.UTC(2107, 11, 31, 23, 59, 58);

/** Time and date of MS-DOS (section 4.4.6), in UTC, since the time zone of the reader is unknown. */
function writeDosTime(record: Buffer, at: number, modifiedMs: number): void {
  const time = new Date(Math.min(Math.max(modifiedMs, DOS_FIRST_MS), DOS_LAST_MS));
  record.writeUInt16LE((time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1), at);
  record.writeUInt16LE(
    ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate(),
    at + 2,
  );
}

function writeUInt64(record: Buffer, at: number, value: number): void {
  record.writeBigUInt64LE(BigInt(value), at);
}

/** Most objects of one archive (wire facts, Background tasks). */
export const MAX_OBJECTS = 50_000;
/** Largest plan of an archive, compressed, bytes: keys of 300 characters without a pattern for all objects. */
export const MAX_PLAN_BYTES = 16 * 1024 * 1024;
/** A longer ETag counts as none. Those of stores have some dozen characters. */
const MAX_ETAG_CHARACTERS = 1024;
/** Most entries of a chunk of a plan, and most characters of their keys. */
const MAX_CHUNK_ENTRIES = 1000;
const MAX_CHUNK_CHARACTERS = 512 * 1024;
/** A chunk is read from the store of tasks: no longer text than this is inflated, bytes. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

const REASONS = {
  gone: "no longer there",
  changed: "changed after the archive was started",
  denied: "may not be read with these credentials",
  unreadable: "could not be read",
};
/** Why an object is not in the archive. */
export type LeftOut = keyof typeof REASONS;

/** A stored part of a plan cannot be read. */
export class DamagedPlan extends Error {
  override readonly name = "DamagedPlan";
}

/** An object as a listing or a look-up shows it. */
const found = z.object({
  size: z.number(),
  /** With its quotes; null where the store has none. */
  etag: z.string().nullable(),
  /** ms since 1970 */
  modifiedMs: z.number(),
});
export type FoundObject = z.output<typeof found>;

/** An object that an archive is to hold, as it is stored. */
const plannedObject = z.object({
  key: z.string(),
  /** The name of its entry where it differs from the key. */
  name: z.string().optional(),
  /** The name where the key ends with a slash and the object has bytes. */
  fileName: z.string().optional(),
  /** Absent until it has been looked up. */
  found: found.optional(),
  missing: z.enum(Object.keys(REASONS) as LeftOut[]).optional(),
});
type PlannedObject = z.output<typeof plannedObject>;

/** An entry of a plan. */
export interface PlannedEntry extends FoundObject {
  /** Its number in the archive, from 0. */
  readonly index: number;
  readonly key: string;
  /** UTF-8 */
  readonly name: Uint8Array;
  /** Set where it was missing from the start. Then it has no bytes. */
  readonly missing: LeftOut | null;
}

/** Sums over the chunks of a plan whose objects have all been looked up. */
export const planSums = z.object({
  chunks: z.int(),
  entries: z.int(),
  /** How many of the entries are missing, and the length of their lines in the list of errors, bytes. */
  missing: z.int(),
  lineBytes: z.int(),
  /** Length of the entries with their headers and descriptors, bytes. */
  bytes: z.int(),
  /** Length of their records in the central directory, bytes. */
  centralBytes: z.int(),
});
export type PlanSums = z.output<typeof planSums>;

export const EMPTY_PLAN: PlanSums = { chunks: 0, entries: 0, missing: 0, lineBytes: 0, bytes: 0, centralBytes: 0 };

/** The name of a chunk's blob. */
export const chunkName = (chunk: number) => `plan/${chunk}`;

/** Builds the chunks of a plan in two passes over them, since names depend on all keys. Only compressed chunks are held. */
export class PlanBuilder {
  readonly #names = new EntryNames();
  readonly #drafts: Uint8Array[] = [];
  #draft: PlannedObject[] = [];
  #characters = 0;
  /** How many objects it has. */
  count = 0;
  /** Length of its complete chunks, compressed and without names that differ from their keys, bytes. */
  bytes = 0;

  /** @param found undefined until it has been looked up */
  add(key: string, found?: FoundObject): void {
    this.#names.addFolders(key);
    this.#draft.push({ key, found });
    this.#characters += key.length;
    this.count++;
    if (this.#draft.length >= MAX_CHUNK_ENTRIES || this.#characters >= MAX_CHUNK_CHARACTERS) this.#close();
  }

  /** The chunks as blobs, by their names. */
  async blobs(): Promise<Map<string, Uint8Array>> {
    if (this.#draft.length > 0) this.#close();
    const blobs = new Map<string, Uint8Array>();
    for (const [number, draft] of this.#drafts.entries()) {
      const objects = objectsIn(draft);
      await yielding(objects.length, (at) => {
        const object = objects[at];
        const { name, fileName } = this.#names.nameOf(object.key);
        if (name !== object.key) object.name = name;
        if (fileName !== null) object.fileName = fileName;
      });
      blobs.set(chunkName(number), packed(objects));
    }
    return blobs;
  }

  #close(): void {
    const draft = packed(this.#draft);
    this.#drafts.push(draft);
    this.bytes += draft.length;
    this.#draft = [];
    this.#characters = 0;
  }
}

/** Whether an object is still to be looked up. */
export function isOpen({ key, found, missing }: PlannedObject): boolean {
  return missing === undefined && (!found || (found.etag === null && !isFolder(key, found.size)));
}

/** A chunk whose objects have been looked up as a blob, the sums with those of it, and the keys that are missing in it. */
export function closedChunk(
  objects: readonly PlannedObject[],
  before: PlanSums,
): { blob: Uint8Array; sums: PlanSums; missingKeys: string[] } {
  const sums = { ...before, chunks: before.chunks + 1 };
  const missingKeys: string[] = [];
  for (const object of objects) {
    const entry = entryOf(object, sums.entries++);
    if (entry.missing !== null) {
      missingKeys.push(entry.key);
      sums.missing++;
      sums.lineBytes += Buffer.byteLength(errorLine(entry.key, entry.missing));
      continue;
    }
    sums.centralBytes += centralRecordBytes(entry.name.length, entry.size, sums.bytes);
    sums.bytes += bytesOf(entry);
  }
  return { blob: packed(objects), sums, missingKeys };
}

/** The entries of a plan whose objects have all been looked up. @param chunks as they are stored @throws DamagedPlan */
export function* plannedEntries(chunks: Iterable<Uint8Array>): Generator<PlannedEntry> {
  let index = 0;
  for (const blob of chunks) for (const object of objectsIn(blob)) yield entryOf(object, index++);
}

/** Length of the archive of a plan whose objects do not change, bytes. */
export function archiveBytes({ entries, missing, lineBytes, bytes, centralBytes }: PlanSums): number {
  const end = { entries: entries - missing, centralOffset: bytes, centralBytes };
  if (lineBytes > 0) {
    end.entries++;
    end.centralOffset += entryBytes(ERRORS_NAME.length, lineBytes);
    end.centralBytes += centralRecordBytes(ERRORS_NAME.length, lineBytes, bytes);
  }
  return end.centralOffset + end.centralBytes + endBytes(end);
}

/** Length of an entry with its header and descriptor, bytes. */
export function bytesOf({ name, size }: Pick<PlannedEntry, "name" | "size">): number {
  return entryBytes(name.length, size);
}

/** The line of a left out object in the list of errors: its key as a JSON string, and the reason. */
export function errorLine(key: string, reason: LeftOut): string {
  return `${JSON.stringify(key)}: ${REASONS[reason]}\n`;
}

/** An ETag as a plan holds it: null for one that is too long. */
export function plannedEtag(etag: string | null): string | null {
  return etag !== null && etag.length <= MAX_ETAG_CHARACTERS ? etag : null;
}

/** Whether an entry is a folder: it has no bytes that could be read. */
export function isFolder(key: string, size: number): boolean {
  return key.endsWith("/") && size === 0;
}

function entryOf({ key, name, fileName, found, missing }: PlannedObject, index: number): PlannedEntry {
  const object = (missing === undefined && found) || { size: 0, etag: null, modifiedMs: 0 };
  const shown = (object.size > 0 ? fileName : undefined) ?? name ?? key;
  return { index, key, name: Buffer.from(shown), ...object, missing: missing ?? null };
}

const packed = (objects: readonly PlannedObject[]) => deflateRawSync(JSON.stringify(objects));

/** The objects of a stored chunk. @throws DamagedPlan */
export function objectsIn(blob: Uint8Array): PlannedObject[] {
  try {
    const text = inflateRawSync(blob, { maxOutputLength: MAX_CHUNK_BYTES }).toString("utf8");
    return z.array(plannedObject).parse(JSON.parse(text));
  } catch (cause) {
    throw new DamagedPlan("A part of a plan cannot be read", { cause });
  }
}
