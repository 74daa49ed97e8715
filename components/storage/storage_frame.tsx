import type { ComponentChildren } from "preact";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { foldersOf } from "@/lib/pages/storage/key_names.ts";
import {
  AUDIT_PATH,
  auditPath,
  FIXITY_PATH,
  fixityPath,
  folderPath,
  STORAGE_PATH,
  storagePath,
  TASKS_PATH,
  tasksPath,
} from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";
import { KeyName } from "./key_name.tsx";

interface Accounts {
  /** The names of the accounts that this browser is logged in to. */
  readonly accounts: readonly string[];
  /** The one that the page is for. */
  readonly account: string;
}

/** The account of a page, and the way to the others: without scripts, too. */
function AccountMenu({ accounts, account }: Accounts) {
  return (
    <details class="account-menu">
      <summary>
        <span class="sr">{STORAGE_LABELS.account}</span> <bdi>{account}</bdi>
      </summary>
      <ul>
        {accounts.map((name) => (
          <li key={name}>
            <a href={storagePath(name)} aria-current={name === account ? "true" : undefined}>
              <bdi>{name}</bdi>
            </a>
          </li>
        ))}
        {accounts.length > 1 && (
          <li>
            <form method="post" action="/logout">
              <input type="hidden" name="account" value={account} />
              <button type="submit">
                <bdi>{STORAGE_LABELS.logOutOf(account)}</bdi>
              </button>
            </form>
          </li>
        )}
        <li>
          <a href={loginPath(STORAGE_PATH)}>{STORAGE_LABELS.otherAccount}</a>
        </li>
      </ul>
    </details>
  );
}

/** A link on the way to a page. */
interface PathStep {
  readonly name: ComponentChildren;
  readonly href: string;
}

interface StoragePathProps extends Accounts {
  /** The links after the account; the page itself is not part of them. */
  readonly steps: readonly PathStep[];
}

/** The way to a page of the storage: the account, and what is around the page. */
function StoragePath({ account, accounts, steps }: StoragePathProps) {
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

interface FolderPathProps extends Accounts {
  readonly bucket: string;
  /** The folder or the key that the path leads to; its own name is not part of the path. */
  readonly prefix: string;
}

/** The way to a folder or an object: the account, its buckets, the bucket, and each folder around it. */
export function FolderPath({ account, accounts, bucket, prefix }: FolderPathProps) {
  // A bucket's own page ends in the list of buckets.
  const folders = prefix === ""
    ? []
    : [{ name: bucket, prefix: "" }, ...foldersOf(prefix)].filter((folder) => folder.prefix !== prefix);
  const steps = [
    { name: STORAGE_LABELS.buckets, href: storagePath(account) },
    ...folders.map(({ name, prefix }) => ({
      name: <KeyName name={name} />,
      href: folderPath({ account, bucket, prefix }),
    })),
  ];
  return <StoragePath account={account} accounts={accounts} steps={steps} />;
}

interface StoragePlacesProps {
  readonly account: string;
  /** The path of this page. */
  readonly here: string;
  /** The folder or the object of this page, whose fixity can be checked; null: the page is of none. */
  readonly subject: { readonly bucket: string; readonly prefix: string } | null;
  /** Whether the account may read the audit trail. */
  readonly hasTrail: boolean;
}

/** The pages of an account beside its buckets. */
export function StoragePlaces({ account, here, subject, hasTrail }: StoragePlacesProps) {
  return (
    <nav class="storage-places" aria-label={STORAGE_LABELS.places}>
      <a href={fixityPath({ account, ...subject })} aria-current={here === FIXITY_PATH ? "page" : undefined}>
        {subject === null ? STORAGE_LABELS.fixity : STORAGE_LABELS.checkFixity}
      </a>
      <a href={tasksPath({ account })} aria-current={here === TASKS_PATH ? "page" : undefined}>
        {STORAGE_LABELS.tasks}
      </a>
      {hasTrail && (
        <a href={auditPath({ account })} aria-current={here === AUDIT_PATH ? "page" : undefined}>
          {STORAGE_LABELS.audit}
        </a>
      )}
    </nav>
  );
}

interface StorageSectionProps extends Accounts {
  /** Between the buckets of the account and the page; absent: none. "none": the page is the list of buckets itself. */
  readonly steps?: readonly PathStep[] | "none";
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
        steps={steps === "none" ? [] : [{ name: STORAGE_LABELS.buckets, href: storagePath(account) }, ...steps]}
      />
      <div class="head">
        <h1>{title}</h1>
      </div>
      {children}
    </div>
  );
}

/** In place of a page whose address lacks a parameter, which is code that addresses hold. */
export function IncompleteAddress(
  { account, accounts, lacks }: Accounts & { readonly lacks: "bucket" | "key" },
) {
  return (
    <StorageSection account={account} accounts={accounts} steps="none" title={STORAGE_LABELS.storage}>
      <p class="banner bad" role="alert">
        {STORAGE_SENTENCES.incomplete[lacks]} <a href={storagePath(account)}>{STORAGE_LABELS.toBuckets}</a>
      </p>
    </StorageSection>
  );
}
