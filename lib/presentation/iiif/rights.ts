import { isObject } from "@/lib/std/is_object.ts";
import { addressOf, type Json, listOf, type Reading } from "./json.ts";
import type { MetadataEntry } from "./manifest.ts";
import { metadataEntry, textsOf } from "./text.ts";

/** Address of the licence or rights statement; Presentation 2 may name several, of which the first is read. */
export function rightsOf(node: Json, reading: Reading): string | null {
  return addressOf(listOf(node.rights ?? node.license, 1)[0], reading);
}

/** What must be shown with a resource; in Presentation 2 its attribution. */
export function requiredStatementOf(node: Json, reading: Reading): MetadataEntry | null {
  if (isObject(node.requiredStatement)) return metadataEntry(node.requiredStatement, reading);
  const values = textsOf(node.attribution, reading);
  return values.length === 0 ? null : { label: "Attribution", values };
}
