import type { ComponentChildren } from "preact";

import { storagePath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { type PathStep, StoragePath } from "./storage_path.tsx";

interface StorageSectionProps {
  readonly account: string;
  /** All accounts of this browser. */
  readonly accounts: readonly string[];
  /** Between the buckets of the account and the page; absent: none. */
  readonly steps?: readonly PathStep[];
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page of what is known about the storage of an account: the way to it, its title, and what it says. */
export function StorageSection({ account, accounts, steps = [], title, children }: StorageSectionProps) {
  return (
    <div class="storage-home">
      <StoragePath
        account={account}
        accounts={accounts}
        steps={[{ name: STORAGE_LABELS.buckets, href: storagePath(account) }, ...steps]}
      />
      <div class="head">
        <h1>{title}</h1>
      </div>
      {children}
    </div>
  );
}
