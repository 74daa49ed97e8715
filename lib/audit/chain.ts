import { hash } from "node:crypto";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { z } from "zod";

/** Where a chain begins, or goes on: the number of a record and the hash of its line. */
export interface ChainPosition {
  readonly number: number;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** What the first line of a trail follows. */
export const CHAIN_START: ChainPosition = { number: 0, hash: "0".repeat(64) };

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
