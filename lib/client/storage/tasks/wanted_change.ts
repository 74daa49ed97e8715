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
    | { readonly kind: "rename" | "delete"; readonly rows: readonly StorageRow[] }
    | {
      readonly kind: "move" | "copy";
      readonly rows: readonly StorageRow[];
      /** Buckets that they may go to, the first one at first: the folder's own, unless it may not be written to. */
      readonly targets: readonly string[];
    }
  );

/** The change whose dialog is open; null: none is. The folder's island asks for it, that of the tasks shows it. */
export const wantedChange = signal<WantedChange | null>(null);
