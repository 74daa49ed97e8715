import type { ObjectPage } from "@/lib/s3/listing.ts";
import { compareKeys, nameIn } from "./key_names.ts";
import type { Chosen, Place } from "./task_record.ts";

/** A folder or an object in a folder. */
export interface StorageRow {
  readonly kind: "folder" | "object";
  /** The whole key of an object; the prefix of a folder, with its last slash. */
  readonly key: string;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** ISO 8601; null for a folder, and where the store says nothing. */
  readonly changed: string | null;
}

/** A page of a folder's listing. */
export interface FolderPage {
  /** In the order of the store: by the bytes of the names, folders among the objects. */
  readonly rows: readonly StorageRow[];
  /** Continues the listing; null at its end. */
  readonly next: string | null;
}

/** A bucket of the gateway's list, and what is in it. */
export interface CountedBucket {
  readonly Name: string;
  /** ISO 8601; null where the store says nothing. */
  readonly CreationDate: string | null;
  /** Objects, old versions counted, and their bytes; null where they are not known. */
  readonly usage: { readonly objects: number; readonly bytes: number } | null;
}

/**
 * A page of a folder, by the gateway's object listing with the delimiter `/`.
 *
 * @param prefix of the folder: its own marker, an empty object of that name, is left out
 */
export function folderPageOf(page: ObjectPage, prefix: string): FolderPage {
  const folders = page.common_prefixes.map((key): StorageRow => ({ kind: "folder", key, size: 0, changed: null }));
  const objects = page.objects.filter(({ Key, Size }) => Key !== prefix || Size > 0)
    .map(({ Key: key, Size: size, LastModified: changed }): StorageRow => ({ kind: "object", key, size, changed }));
  return {
    rows: [...folders, ...objects].sort((a, b) => compareKeys(a.key, b.key)),
    next: page.is_truncated ? page.next_continuation_token : null,
  };
}

/** The text just before all keys with a prefix, in the order of listings: a listing after it contains those keys. */
export function justBefore(text: string): string {
  const points = Array.from(text);
  const last = points.pop()?.codePointAt(0) ?? 0;
  const before = points.join("");
  if (last <= 1) return before;
  // The code points of surrogates are none of a text.
  const lower = last === 0xe000 ? 0xd7ff : last - 1;
  return `${before}${String.fromCodePoint(lower)}${LAST_CHARACTER}`;
}

/** The last character that every store takes in a key: the ones above are no characters. */
const LAST_CHARACTER = "\u{10FFFD}";

/** A column that rows can be sorted by. */
export type FolderColumn = "name" | "size" | "changed";

/** How the rows of a folder are sorted. */
export interface FolderOrder {
  readonly by: FolderColumn;
  readonly isDescending: boolean;
}

/** The order of a folder that was just opened. */
export const FIRST_ORDER: FolderOrder = { by: "name", isDescending: false };

/** The order after a click on a column's head: sizes and times first in descending order. */
export function orderAfter({ by, isDescending }: FolderOrder, column: FolderColumn): FolderOrder {
  return by === column ? { by, isDescending: !isDescending } : { by: column, isDescending: column !== "name" };
}

/** Whether rows stand as the store lists them, so that further ones come behind them. */
export function isStoreOrder({ by, isDescending }: FolderOrder): boolean {
  return by === "name" && !isDescending;
}

/**
 * Sorts rows. By name, folders come first where all of them are known; else the rows stay as the store lists them, so
 * that none moves when further ones are read.
 *
 * @param rows in the order of the store
 */
export function orderedRows(rows: readonly StorageRow[], order: FolderOrder, isWhole: boolean): readonly StorageRow[] {
  if (isStoreOrder(order) && !isWhole) return rows;
  const folders = rows.filter(({ kind }) => kind === "folder");
  const objects = rows.filter(({ kind }) => kind === "object");
  if (isStoreOrder(order)) return [...folders, ...objects];
  const direction = order.isDescending ? -1 : 1;
  const compare = COMPARE[order.by];
  const sort = (list: StorageRow[]) => list.sort((a, b) => direction * compare(a, b) || compareKeys(a.key, b.key));
  // Folders have no size and no time of their own.
  return [...(order.by === "name" ? sort(folders) : folders), ...sort(objects)];
}

const COMPARE: Readonly<Record<FolderColumn, (a: StorageRow, b: StorageRow) => number>> = {
  name: (a, b) => compareKeys(a.key, b.key),
  size: (a, b) => a.size - b.size,
  changed: (a, b) => timeOf(a) - timeOf(b),
};

function timeOf({ changed }: StorageRow): number {
  return (changed === null ? NaN : Date.parse(changed)) || 0;
}

/** The keys of rows that are objects, and the prefixes of those that are folders. */
export function chosenOf(rows: readonly StorageRow[]): Chosen {
  const keysOf = (kind: StorageRow["kind"]) => rows.filter((row) => row.kind === kind).map(({ key }) => key);
  return { keys: keysOf("object"), prefixes: keysOf("folder") };
}

/** The part of a task's plan that names rows of a folder. @param rows at least one */
export function plannedRows(rows: readonly StorageRow[], { bucket, prefix }: Place) {
  return { place: { bucket, prefix }, name: nameIn(prefix, rows[0].key), rows: rows.length, ...chosenOf(rows) };
}
