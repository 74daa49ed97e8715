import LoginNotice from "@/islands/login_notice.tsx";
import StorageTasks from "@/islands/storage_tasks.tsx";
import { addressOf, type RawTarget } from "@/lib/http/request_context.ts";
import { unavailableAreaSentence } from "@/lib/pages/login_sentences.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { STORAGE_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";
import { createDefine } from "@/lib/site/define.ts";
import type { StorageState } from "@/lib/site/state.ts";
import { notedUnavailableArea } from "@/lib/auth/storage_cookie.ts";
import { endedSessions } from "@/lib/site/storage/logins.ts";
import { accountName } from "@/lib/auth/storage_cookie.ts";
import { StoragePlaces } from "@/components/storage/storage_frame.tsx";

/** A page of the storage without a login has no visit. */
type Shown = Omit<StorageState, "visit"> & Partial<Pick<StorageState, "visit">>;

/** The frame of a page of the storage: notices, the places of its account, the tasks. */
export default createDefine<Shown>().layout(function StorageLayout({ Component, req, state, info, url }) {
  const { visit, storage } = state;
  if (!visit) return <Component />;
  const { account, logins } = visit;
  const { path } = info.target;
  const noted = notedUnavailableArea(req);
  const bucket = url.searchParams.get("bucket") ?? "";
  const prefix = url.searchParams.get("key") ?? url.searchParams.get("prefix") ?? "";
  const subject = bucket === "" || !path.startsWith(`${STORAGE_PATH}/`) ? null : { bucket, prefix };
  return (
    <>
      {noted?.isShown === false && (
        <p class="banner" role="status">
          {unavailableAreaSentence(noted, accountName(logins[0]), storage.campaignTenant)}
        </p>
      )}
      {/* The list of buckets is where one account is exchanged for another. */}
      {path === STORAGE_PATH && (
        <EndedSessions sessions={endedSessions(storage, req, logins)} now={state.now()} here={info.target} />
      )}
      <StoragePlaces account={account} here={path} subject={subject} hasTrail={visit.hasTrail} />
      <Component />
      <StorageTasks account={account} />
    </>
  );
});

interface EndedSessionsProps {
  readonly sessions: ReturnType<typeof endedSessions>;
  /** ms since 1970 */
  readonly now: number;
  /** The address of this page. */
  readonly here: RawTarget;
}

/** The sessions that this browser no longer has at the storage. */
export function EndedSessions({ sessions, now, here }: EndedSessionsProps) {
  return sessions.map(({ account, endsAt }) => (
    <div class="banner warn" role="status" key={account}>
      {endsAt * 1000 > now
        ? STORAGE_SENTENCES.sessionOver(account)
        : <LoginNotice kind="ended" at={endsAt * 1000} account={account} renderedAt={now} />}{" "}
      <a href={loginPath(addressOf(here))}>{LABELS.logIn}</a>
    </div>
  ));
}
