import CampaignBoard, { type CampaignBoardProps } from "@/islands/campaign_board.tsx";
import type { CampaignPages, OpenAnswer } from "@/lib/campaigns/reader/campaign_detail.ts";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { addressOf } from "@/lib/http/request_context.ts";
import { listPage, olderCount, readFrom, readListAddress, REAPED_PAGE } from "@/lib/pages/campaigns/campaign_filter.ts";
import { BOARD_SENTENCES } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { unavailableAreaSentence } from "@/lib/pages/login_sentences.ts";
import { loginPath, type OpenRequest, readOpenRequest } from "@/lib/pages/page_paths.ts";
import { LABELS, SENTENCES, unreachableSentence } from "@/lib/pages/page_sentences.ts";
import { STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";
import { type Session, userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { define } from "@/lib/site/state.ts";
import { notedUnavailableArea, rememberShown } from "@/lib/auth/storage_cookie.ts";
import { newestAccount } from "@/lib/site/storage/logins.ts";
import { OpenedCampaign } from "@/components/campaigns/opened_campaign.tsx";

/** `/`: the list of campaigns, rendered for the user who is logged in; without a session, the frame without data. */
export const handler = define.handlers({
  async GET({ req, url, state }) {
    const { campaigns } = state;
    state.title = LABELS.campaigns;
    state.current = "campaigns";
    if (!campaigns) return page(null);
    const session = await state.session(req);
    const user = userOf(session);
    const requested = user === null ? null : readOpenRequest(url.searchParams);
    const [board, answer] = await Promise.all([
      boardProps(campaigns, { req, session, query: url.searchParams, requested, now: state.now() }),
      requested && campaigns.detail(req, requested),
    ]);
    const storageOnly = session === null ? newestAccount(state.storage, req) : null;
    const noted = notedUnavailableArea(req);
    // The area that is not available says so on each visit, the other one once.
    const closed = storageOnly !== null && noted?.side !== "campaigns"
      ? { side: "campaigns", reason: "no session" } as const
      : storageOnly !== null || noted?.isShown === false
      ? noted
      : null;
    state.user = user ?? storageOnly;
    state.troubled = board.first?.overview.troubled;
    state.isList = true;
    const headers = new Headers();
    rememberShown(headers, req, noted);
    return page({ board, requested, answer, storageOnly, closed }, { headers });
  },
});

export default define.page<typeof handler>(function Campaigns({ data, state, info }) {
  if (data === null) {
    return (
      <>
        <h1>{LABELS.campaigns}</h1>
        <p class="empty">{BOARD_SENTENCES.noCluster} {BOARD_SENTENCES.readElsewhere}</p>
      </>
    );
  }
  const { board, requested, answer, storageOnly, closed } = data;
  const opened = requested && <OpenedCampaign requested={requested} answer={inWords(answer)} now={board.renderedAt} />;
  return (
    <>
      {closed !== null && (
        <p class="banner" role="status">
          {storageOnly !== null && <>{STORAGE_SENTENCES.loggedInAs(storageOnly)}{" "}</>}
          {unavailableAreaSentence(closed, storageOnly, state.campaignTenant)}{" "}
          <a href={loginPath(addressOf(info.target))}>{LABELS.logIn}</a>
        </p>
      )}
      {answer === null && opened}
      {/* The list would lead to the login at once, before the line above could be read. */}
      {storageOnly === null ? <CampaignBoard {...board} /> : <h1>{LABELS.campaigns}</h1>}
      {answer !== null && opened}
    </>
  );
});

function inWords(answer: OpenAnswer) {
  return answer !== null && "problem" in answer ? { problem: sentenceOf(answer) } : answer;
}

function sentenceOf({ problem: { status, coded } }: { readonly problem: { status: number; coded?: unknown } }): string {
  return unreachableSentence(status, coded);
}

interface BoardRequest {
  readonly req: Request;
  readonly session: Session;
  readonly query: URLSearchParams;
  readonly requested: OpenRequest | null;
  /** ms since 1970 */
  readonly now: number;
}

async function boardProps(
  campaigns: CampaignPages,
  { req, session, query, requested, now: renderedAt }: BoardRequest,
): Promise<CampaignBoardProps> {
  const address = readListAddress(query);
  const nothing = { first: null, address, problem: null, renderedAt };
  if (session === "outage") return { ...nothing, problem: SENTENCES.resultsOutage };
  if (session === null) return nothing;
  let reaped = address.reaped;
  let answer = await campaigns.list(req, reaped);
  if ("problem" in answer) return { ...nothing, problem: sentenceOf(answer) };
  const older = olderCount(answer.reapedTotal, reaped);
  if (requested && older > 0 && !answer.jobs.some((job) => isNamed(job, requested))) {
    const all = await campaigns.list(req, reaped + older);
    reaped = "problem" in all ? reaped : reapedWith(all.jobs, requested) ?? reaped;
    if (reaped > address.reaped) answer = await campaigns.list(req, reaped);
    if ("problem" in answer) return { ...nothing, problem: sentenceOf(answer) };
  }
  const { jobs, reapedTotal, ageMs } = answer;
  const staleSince = ageMs === null ? null : renderedAt - ageMs;
  const shown = { ...address, reaped };
  // The browser adds the other cards: sending a thousand twice, as markup and as data, would cost a megabyte.
  const page = listPage(jobs, shown, readFrom(query));
  return { ...nothing, address: shown, first: { ...page, reapedTotal, readAt: renderedAt, staleSince } };
}

function isNamed(job: JobSummary, { namespace, name }: OpenRequest): boolean {
  return job.name === name && job.namespace === namespace;
}

/** Limit of campaigns without a Job, in whole pages, of a list that contains the named one; null: it does not exist. */
function reapedWith(jobs: readonly JobSummary[], requested: OpenRequest): number | null {
  const goal = jobs.find((job) => job.jobGone && isNamed(job, requested));
  if (!goal) return null;
  // Lists are limited to those that ended last.
  const endOf = ({ finishedAt }: JobSummary) => finishedAt === null ? 0 : Date.parse(finishedAt) || 0;
  const place = jobs.filter((job) => job.jobGone && endOf(job) >= endOf(goal)).length;
  return Math.ceil(place / REAPED_PAGE) * REAPED_PAGE;
}
