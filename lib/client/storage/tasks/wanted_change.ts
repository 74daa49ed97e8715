import { signal } from "@preact/signals";

import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import type { FolderAddress } from "@/lib/presentation/storage/storage_paths.ts";

/** A change that a reader wants, before it is confirmed. */
export type WantedChange =
  & {
    readonly folder: Pick<FolderAddress, "account" | "bucket" | "prefix">;
    /** It has been confirmed. */
    readonly onStart: () => void;
  }
  & (
    | { readonly kind: "folder" }
    | { readonly kind: "rename" | "move" | "copy" | "delete"; readonly rows: readonly StorageRow[] }
  );

/** The change whose dialog is open; null: none is. The folder's island asks for it, that of the tasks shows it. */
export const wantedChange = signal<WantedChange | null>(null);
