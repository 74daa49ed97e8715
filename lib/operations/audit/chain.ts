import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { z } from "zod";
import { textIfExists } from "@/lib/std/files.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** The position that the first line of a trail follows: the number of a record, and the SHA-256 of its line. */
export const CHAIN_START = { number: 0, hash: "0".repeat(64) };
/** The position that the next record of a chain follows. */
export type ChainPosition = Readonly<typeof CHAIN_START>;

/** The end of a sealed line. */
const SEAL = /,"hash":"([0-9a-f]{64})"\}$/;

/**
 * Seals a JSON object: `hash` is added to it as its last member, the SHA-256 of the hash of the line before and the text
 * of the object without that member.
 *
 * @param text a JSON object with at least one member
 */
export function sealed(previous: string, text: string): { readonly line: string; readonly hash: string } {
  const digest = hash("sha256", previous + text, "hex");
  return { line: `${text.slice(0, -1)},"hash":"${digest}"}`, hash: digest };
}

/** The text that was sealed, and the hash in the line; null for what is no sealed line. */
export function opened(line: string): { readonly text: string; readonly hash: string } | null {
  const match = SEAL.exec(line);
  return match && { text: `${line.slice(0, match.index)}}`, hash: match[1] };
}

/** Whether a line follows the one with this hash, unchanged. */
export function follows(previous: string, { text, hash }: { readonly text: string; readonly hash: string }): boolean {
  return sealed(previous, text).hash === hash;
}

const HEADER = z.object({
  v: z.literal(1),
  trail: z.string().regex(/^[0-9a-f]{8}$/),
  day: z.iso.date(),
  after: z.int().min(0),
  prev: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The first line of a file: the trail, the day, and what the file follows. */
type ChainHeader = z.output<typeof HEADER>;

/** The header in the text of a line; null where it is none. */
export function headerOf(text: string): ChainHeader | null {
  return HEADER.safeParse(parsedJson(text)).data ?? null;
}

/** The header of a day's file as JSON. */
export function headerText(trail: string, day: string, { number, hash }: ChainPosition): string {
  const header: ChainHeader = { v: 1, trail, day, after: number, prev: hash };
  return JSON.stringify(header);
}

const ID = /^\{"v":\d+,"id":"([0-9a-f]{8})\.(\d{1,15})"/;

/** The trail and the number in the text of a record; null where there is none. */
export function idOf(text: string): { readonly trail: string; readonly number: number } | null {
  const match = ID.exec(text);
  return match && { trail: match[1], number: Number(match[2]) };
}

/** The folder of the trail in the data folder. */
export const AUDIT_FOLDER = "audit";
/** Folder in a backup for a trail from outside of the data folder. */
export const AUDIT_DIR_COPY = "audit_dir";

/** The name of a day's file. */
const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** How far the trail had got not long ago: records that are missing at its end are found by it. */
export const END_FILE = "end.json";
/** The same in the data folder, where there is no embedded store to note it. */
export const OUTSIDE_END_FILE = "audit_end.json";
/** The last day that was removed as too old. */
export const ANCHOR_FILE = "anchor.json";

const MARK = {
  v: z.literal(1),
  trail: z.string().regex(/^[0-9a-f]{8}$/),
  number: z.int().min(0),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
};
const END = z.object(MARK);
const ANCHOR = z.object({ ...MARK, day: z.iso.date() });

/** The last record that was written, or a little earlier one. */
export type ChainEnd = z.output<typeof END>;
/** The last record that was removed, and the day of its file. */
export type ChainAnchor = z.output<typeof ANCHOR>;

const OUTSIDE_END = z.object({ ...MARK, place: z.string() });
/** An end noted outside of the folder, with the place of its trail: {@link AUDIT_FOLDER}, or a separate folder. */
export type OutsideEnd = z.output<typeof OUTSIDE_END>;

/** Where the end of a trail is noted outside of its folder, so that a cut or a removal of the folder is found. */
export interface EndNote {
  /** Null: none, or that of a trail in another place. */
  read(): Promise<ChainEnd | null>;
  /** Resolves once it is durable. */
  write(end: ChainEnd): Promise<void>;
}

/** An end as such a note holds it; null for anything else. */
export function outsideEnd(value: unknown): OutsideEnd | null {
  return OUTSIDE_END.safeParse(value).data ?? null;
}

/** The days of which a folder has files, the oldest first. */
export function daysIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(dayOfEntry).sort();
}

/** The days of which a folder has files, likewise, while the process goes on. */
export async function daysInAsync(folder: string): Promise<string[]> {
  const days: string[] = [];
  for await (const entry of Deno.readDir(folder)) days.push(...dayOfEntry(entry));
  return days.sort();
}

function dayOfEntry({ name, isFile }: Deno.DirEntry): string[] {
  const day = DAY_FILE.exec(name)?.[1];
  return isFile && day !== undefined ? [day] : [];
}

/** The file of a day. */
export const dayFile = (folder: string, day: string) => `${folder}/${day}.jsonl`;
/** The day of an instant (ms since 1970), UTC. */
export const dayOf = (atMs: number) => new Date(atMs).toISOString().slice(0, "yyyy-mm-dd".length);

/** The end of a trail as its folder notes it; null: no note, `damaged`: one that cannot be read. */
export const readEnd = (folder: string) => read(`${folder}/${END_FILE}`, END);
/** The note of a folder about the days that were removed; likewise. */
export const readAnchor = (folder: string) => read(`${folder}/${ANCHOR_FILE}`, ANCHOR);

function read<Value>(path: string, schema: z.ZodType<Value>): Value | "damaged" | null {
  const text = textIfExists(path);
  if (text === null) return null;
  return schema.safeParse(parsedJson(text)).data ?? "damaged";
}

/** The bytes of a file from one place to another, as far as it has them. */
export async function readAt(file: Deno.FsFile, from: number, to: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.alloc(to - from);
  await file.seek(from, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
