/** A tag of an object. */
export type ObjectTag = readonly [name: string, value: string];

/** Most tags of an object (S3 API, object tagging). */
export const MAX_TAGS = 10;

/**
 * The tags of a form: rows without a name and a value are left out.
 *
 * @returns null where two have the same name, of which the store would keep one
 */
export function typedTags(rows: readonly ObjectTag[]): Record<string, string> | null {
  const filled = rows.filter(([name, value]) => name.trim() !== "" || value.trim() !== "")
    .map(([name, value]) => [name.trim(), value.trim()] as const);
  const names = new Set(filled.map(([name]) => name));
  return names.size === filled.length ? Object.fromEntries(filled) : null;
}
