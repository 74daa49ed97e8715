import { nameIn } from "./key_names.ts";
import type { StorageRow } from "./listing.ts";
import type { Chosen, Place } from "./task_record.ts";

/** Selected rows, also those whose rows were released: names of folders end in a slash, those of objects never do. */
export function chosenRows(keys: ReadonlySet<string>, known: readonly StorageRow[]): readonly StorageRow[] {
  if (keys.size === known.length) return known;
  const rows = new Map(known.map((row) => [row.key, row]));
  return [...keys].map((key) =>
    rows.get(key) ?? { kind: key.endsWith("/") ? "folder" : "object", key, size: 0, changed: null }
  );
}

/** The keys of rows that are objects, and the prefixes of those that are folders. */
export function chosenOf(rows: readonly StorageRow[]): Chosen {
  const keysOf = (kind: StorageRow["kind"]) => rows.filter((row) => row.kind === kind).map(({ key }) => key);
  return { keys: keysOf("object"), prefixes: keysOf("folder") };
}

/** What the plan of a task says of rows of a folder. @param rows at least one */
export function plannedRows(rows: readonly StorageRow[], { bucket, prefix }: Place) {
  return { place: { bucket, prefix }, name: nameIn(prefix, rows[0].key), rows: rows.length, ...chosenOf(rows) };
}
