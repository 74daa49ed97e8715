import { STORAGE_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { define } from "@/lib/site/state.ts";
import { newestAccount } from "@/lib/site/storage/logins.ts";
import { LABELS, SENTENCES } from "@/lib/pages/page_sentences.ts";

/** The page for an unknown address. Below `/storage` it leads there. */
export const handler = define.handlers({
  async GET({ req, state, info }) {
    const isOfStorage = state.storage !== null && info.target.path.startsWith(`${STORAGE_PATH}/`);
    state.title = LABELS.notFound;
    state.current = isOfStorage ? "storage" : null;
    state.afterLogin = isOfStorage ? STORAGE_PATH : "/";
    state.user = isOfStorage ? newestAccount(state.storage, req) : userOf(await state.session(req));
    return page({ isOfStorage }, { status: 404 });
  },
});

export default define.page<typeof handler>(function NotFound({ data: { isOfStorage } }) {
  return (
    <>
      <div class="head">
        <h1>{LABELS.notFound}</h1>
      </div>
      <p>
        {SENTENCES.noPage}{" "}
        {isOfStorage ? <a href={STORAGE_PATH}>{STORAGE_LABELS.toBuckets}</a> : <a href="/">{LABELS.toCampaigns}</a>}
      </p>
    </>
  );
});
