import { isObject } from "@/lib/std/is_object.ts";
import { addressOf, type Json, listOf, type Reading } from "./json.ts";
import type { MetadataEntry } from "./manifest.ts";
import { metadataEntry } from "./text.ts";

/** Address of the licence or rights statement; of several the first. */
export function rightsOf(node: Json, reading: Reading): string | null {
  return addressOf(listOf(node.rights, 1)[0], reading);
}

/** What must be shown with a resource. */
export function requiredStatementOf({ requiredStatement }: Json, reading: Reading): MetadataEntry | null {
  return isObject(requiredStatement) ? metadataEntry(requiredStatement, reading) : null;
}
