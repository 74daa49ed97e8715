import type { StorageRow } from "./listing.ts";
import { compareKeys } from "./upload_names.ts";

/** A column that rows can be sorted by. */
export type FolderColumn = "name" | "size" | "changed";

/** How the rows of a folder are sorted. */
export interface FolderOrder {
  readonly by: FolderColumn;
  readonly isDescending: boolean;
}

/** The order of a folder that was just opened. */
export const FIRST_ORDER: FolderOrder = { by: "name", isDescending: false };

/** The order after a click on a column's head: sizes and times begin with the largest. */
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
