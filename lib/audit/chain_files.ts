import { z } from "zod";
import { textIfExists } from "@/lib/std/optional_file.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** The folder of the trail in the data folder. */
export const AUDIT_FOLDER = "audit";
/** A trail in a backup that was kept outside of the data folder. */
export const AUDIT_DIR_COPY = "audit_dir";

/** The name of a day's file. */
const DAY_FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

/** How far the trail had got not long ago: records that are missing at its end are found by it. */
export const END_FILE = "end.json";
/** The same in the data folder, where there is no embedded store to note it. */
export const OUTSIDE_END_FILE = "audit_end.json";
/** After which day the files of a trail begin: the days before were removed as too old. */
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
/** An end that is noted outside, with the place of its trail: {@link AUDIT_FOLDER}, or a folder of its own. */
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
export function dayFile(folder: string, day: string): string {
  return `${folder}/${day}.jsonl`;
}

/** The day of an instant (ms since 1970), UTC. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, "yyyy-mm-dd".length);
}

/** What a folder says of the end of its trail; null: nothing, `damaged`: what is not readable. */
export function readEnd(folder: string): ChainEnd | "damaged" | null {
  return read(`${folder}/${END_FILE}`, END);
}

/** What a folder says of the days that were removed; likewise. */
export function readAnchor(folder: string): ChainAnchor | "damaged" | null {
  return read(`${folder}/${ANCHOR_FILE}`, ANCHOR);
}

function read<Value>(path: string, schema: z.ZodType<Value>): Value | "damaged" | null {
  const text = textIfExists(path);
  if (text === null) return null;
  return schema.safeParse(parsedJson(text)).data ?? "damaged";
}
