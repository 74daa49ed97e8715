import type { FolderPage, StorageRow } from "./listing.ts";

/** A row as a page carries it for its island: the name in the folder, bytes, and the time of the change. */
type PackedRow = readonly [name: string, bytes: number, changed: string | null];

/** A page of a listing, small enough to be sent beside the rows that are rendered from it. */
export interface PackedPage {
  readonly rows: readonly PackedRow[];
  readonly next: string | null;
}

/** Packs a page of a folder. Names of folders end in a slash, those of objects never do. */
export function packedPage({ rows, next }: FolderPage, prefix: string): PackedPage {
  return { rows: rows.map(({ key, size, changed }) => [key.slice(prefix.length), size, changed]), next };
}

/** The page that was packed. */
export function unpackedPage({ rows, next }: PackedPage, prefix: string): FolderPage {
  return {
    rows: rows.map(([name, size, changed]): StorageRow => ({
      kind: name.endsWith("/") ? "folder" : "object",
      key: prefix + name,
      size,
      changed,
    })),
    next,
  };
}
