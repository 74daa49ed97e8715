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

/** Why an object is not in the archive. */
export type LeftOut = "gone" | "changed" | "denied" | "unreadable";

const REASONS: Readonly<Record<LeftOut, string>> = {
  gone: "no longer there",
  changed: "changed after the archive was started",
  denied: "may not be read with these credentials",
  unreadable: "could not be read",
};

/** A stored part of a plan cannot be read. */
export class DamagedPlan extends Error {
  override readonly name = "DamagedPlan";
}

/** An object as a listing or a look-up shows it. */
export interface FoundObject {
  readonly size: number;
  /** With its quotes; null where the store has none. */
  readonly etag: string | null;
  /** ms since 1970 */
  readonly modifiedMs: number;
}

/** An object that an archive is to hold. Its fields are null until it has been looked up. */
interface PlannedObject {
  readonly key: string;
  readonly found: FoundObject | null;
}

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

const found = z.tuple([z.number(), z.string().nullable(), z.number()]);
const reason = z.enum(["gone", "changed", "denied", "unreadable"]);
const chunkSchema = z.object({
  keys: z.array(z.string()),
  /** Names that differ from their keys, by their position in the chunk, as below. */
  names: z.record(z.string(), z.string()),
  /** Names of objects whose key ends with a slash, for where they have bytes. */
  fileNames: z.record(z.string(), z.string()),
  found: z.array(found.nullable()),
  missing: z.record(z.string(), reason),
});
/** A chunk of a plan as it is stored. */
type Chunk = z.output<typeof chunkSchema>;

/** What is known of a plan without its chunks: the sums over those whose objects have all been looked up. */
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
export function chunkName(chunk: number): string {
  return `plan/${chunk}`;
}

/** Builds the chunks of a plan in two passes over them, since names depend on all keys. Only compressed chunks are held. */
export class PlanBuilder {
  readonly #names = new EntryNames();
  readonly #drafts: Uint8Array[] = [];
  #draft = emptyChunk();
  #characters = 0;
  #count = 0;
  #bytes = 0;

  /** How many objects it has. */
  get count(): number {
    return this.#count;
  }

  /** Length of its complete chunks, compressed and without names that differ from their keys, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  add({ key, found }: PlannedObject): void {
    this.#names.addFolders(key);
    this.#draft.keys.push(key);
    this.#draft.found.push(found && [found.size, found.etag, found.modifiedMs]);
    this.#characters += key.length;
    this.#count++;
    if (this.#draft.keys.length >= MAX_CHUNK_ENTRIES || this.#characters >= MAX_CHUNK_CHARACTERS) this.#close();
  }

  /** The chunks as blobs, by their names. */
  async blobs(): Promise<Map<string, Uint8Array>> {
    if (this.#draft.keys.length > 0) this.#close();
    const blobs = new Map<string, Uint8Array>();
    for (const [number, draft] of this.#drafts.entries()) {
      const chunk = decoded(draft);
      await yielding(chunk.keys.length, (at) => {
        const key = chunk.keys[at];
        const { name, fileName } = this.#names.nameOf(key);
        if (name !== key) chunk.names[at] = name;
        if (fileName !== null) chunk.fileNames[at] = fileName;
      });
      blobs.set(chunkName(number), encoded(chunk));
    }
    return blobs;
  }

  #close(): void {
    const draft = encoded(this.#draft);
    this.#drafts.push(draft);
    this.#bytes += draft.length;
    this.#draft = emptyChunk();
    this.#characters = 0;
  }
}

/** A chunk whose objects are looked up where that is still to be done. */
export class ChunkLookup {
  readonly #chunk: Chunk;

  /** @param blob as it is stored @throws DamagedPlan */
  constructor(blob: Uint8Array) {
    this.#chunk = decoded(blob);
  }

  /** The keys that are to be looked up, and their positions in the chunk. */
  get open(): { readonly at: number; readonly key: string }[] {
    const { keys, found, missing } = this.#chunk;
    return keys.map((key, at) => ({ at, key })).filter(({ at, key }) => {
      const object = found[at];
      return missing[at] === undefined && (object === null || (object[1] === null && !isFolder(key, object[0])));
    });
  }

  /** Stores what the look-up of a key has found, or why the object is left out. */
  set(at: number, result: FoundObject | LeftOut): void {
    if (typeof result === "string") this.#chunk.missing[at] = result;
    else this.#chunk.found[at] = [result.size, result.etag, result.modifiedMs];
  }

  /** The chunk as a blob, the sums with those of this chunk, and the keys that are missing in it. */
  close(before: PlanSums): { blob: Uint8Array; sums: PlanSums; missingKeys: string[] } {
    const sums = { ...before, chunks: before.chunks + 1 };
    const missingKeys: string[] = [];
    for (const entry of entriesOf(this.#chunk, before.entries)) {
      sums.entries++;
      if (entry.missing !== null) {
        missingKeys.push(entry.key);
        sums.missing++;
        sums.lineBytes += Buffer.byteLength(errorLine(entry.key, entry.missing));
        continue;
      }
      sums.centralBytes += centralRecordBytes(entry.name.length, entry.size, sums.bytes);
      sums.bytes += bytesOf(entry);
    }
    return { blob: encoded(this.#chunk), sums, missingKeys };
  }
}

/** The entries of a plan whose objects have all been looked up. @param chunks as they are stored @throws DamagedPlan */
export function* plannedEntries(chunks: Iterable<Uint8Array>): Generator<PlannedEntry> {
  let first = 0;
  for (const blob of chunks) {
    const entries = entriesOf(decoded(blob), first);
    yield* entries;
    first += entries.length;
  }
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

function entriesOf(chunk: Chunk, first: number): PlannedEntry[] {
  return chunk.keys.map((key, at) => {
    const missing = chunk.missing[at] ?? null;
    const [size, etag, modifiedMs] = (missing === null && chunk.found[at]) || [0, null, 0];
    const name = (size > 0 ? chunk.fileNames[at] : undefined) ?? chunk.names[at] ?? key;
    return { index: first + at, key, name: Buffer.from(name), size, etag, modifiedMs, missing };
  });
}

function emptyChunk(): Chunk {
  return { keys: [], names: {}, fileNames: {}, found: [], missing: {} };
}

function encoded(chunk: Chunk): Uint8Array {
  return deflateRawSync(JSON.stringify(chunk));
}

function decoded(blob: Uint8Array): Chunk {
  try {
    const text = inflateRawSync(blob, { maxOutputLength: MAX_CHUNK_BYTES }).toString("utf8");
    return chunkSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new DamagedPlan("A part of a plan cannot be read", { cause });
  }
}
