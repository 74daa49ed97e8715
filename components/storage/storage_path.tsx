import type { ComponentChildren } from "preact";

import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";
import { AccountMenu } from "./account_menu.tsx";

/** A link on the way to a page. */
export interface PathStep {
  readonly name: ComponentChildren;
  readonly href: string;
}

interface StoragePathProps {
  readonly account: string;
  /** All accounts of this browser. */
  readonly accounts: readonly string[];
  /** From the account on; the page itself is not part of them. */
  readonly steps: readonly PathStep[];
}

/** The way to a page of the storage: the account, and what is around the page. */
export function StoragePath({ account, accounts, steps }: StoragePathProps) {
  return (
    <nav class="crumbs" aria-label={STORAGE_LABELS.folderPath}>
      <ol>
        <li>
          <AccountMenu account={account} accounts={accounts} />
        </li>
        {steps.map(({ name, href }) => (
          <li key={href}>
            <a href={href}>{name}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
