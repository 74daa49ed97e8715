import { Buffer } from "node:buffer";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { yielding } from "@/lib/std/concurrency.ts";
import { centralRecordBytes, endBytes, entryBytes } from "./zip_format.ts";
import { EntryNames, ERRORS_NAME } from "./zip_names.ts";

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
