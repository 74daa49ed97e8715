import { loginPath } from "@/lib/presentation/page_paths.ts";
import { STORAGE_PATH, storagePath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";

interface AccountMenuProps {
  /** The names of the accounts that this browser is logged in to. */
  readonly accounts: readonly string[];
  /** The one that the page is for. */
  readonly account: string;
}

/** The account of a page, and the way to the others: without scripts, too. */
export function AccountMenu({ accounts, account }: AccountMenuProps) {
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
