import { isObject } from "@/lib/std/untrusted.ts";
import { addressOf, idOf, type Json, listOf, type Reading } from "./json.ts";
import { LIMITS } from "./limits.ts";
import type { MetadataEntry } from "./manifest.ts";
import { labelOf, metadataEntry, textOf } from "./text.ts";

/** The licence or rights statement: its address, else its words; of several the first with an address. */
export function rightsOf(node: Json, reading: Reading): string | null {
  const stated = listOf(node.rights, LIMITS.links);
  return stated.map((entry) => webAddressOf(idOf(entry))).find((address) => address !== null) ??
    stated.map((entry) => wordsOf(entry, reading)).find((words) => words !== null) ?? null;
}

/** A text that is an address of http or https and nothing else; null: it is none. */
export function webAddressOf(text: string): string | null {
  return /^https?:\/\/\S+$/i.test(text) ? addressOf(text, { base: text, languages: [] }) : null;
}

function wordsOf(entry: unknown, reading: Reading): string | null {
  return isObject(entry) && idOf(entry) !== "" ? labelOf(entry.label ?? idOf(entry), reading) : textOf(entry, reading);
}

/** What must be shown with a resource. */
export function requiredStatementOf({ requiredStatement }: Json, reading: Reading): MetadataEntry | null {
  const stated = listOf(requiredStatement, 1)[0];
  if (isObject(stated) && ("label" in stated || "value" in stated)) return metadataEntry(stated, reading);
  return metadataEntry({ value: requiredStatement }, reading);
}
