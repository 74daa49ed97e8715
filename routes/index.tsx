import CampaignBoard, { type CampaignBoardProps } from "@/islands/campaign_board.tsx";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";
import { listPage, olderCount, readFrom, readListAddress, REAPED_PAGE } from "@/lib/pages/campaigns/campaign_filter.ts";
import { BOARD_SENTENCES } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { LABELS, SENTENCES } from "@/lib/pages/page_sentences.ts";
import { closedSideSentence } from "@/lib/pages/login_sentences.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { notedClosedSide, rememberShown } from "@/lib/auth/login_notes.ts";
import { type OpenAnswer, OpenedCampaign, type OpenRequest, readOpenRequest } from "./open_campaign.tsx";
import { addressOf, Shell } from "@/routes/frame/shell.tsx";

/** The list as the server could read it for this request's user. */
export type CampaignsAnswer =
  | {
    readonly jobs: readonly JobSummary[];
    readonly reapedTotal: number;
    /** How old the list is where the cluster could not be followed of late, ms; else null. */
    readonly ageMs: number | null;
  }
  | { readonly problem: string };

export interface CampaignPageDeps extends SiteDeps {
  /** Whether this site has a cluster, and so a list. */
  readonly hasCluster: boolean;
  /** @param reaped the most campaigns without a Job */
  campaigns(request: Request, reaped: number): Promise<CampaignsAnswer>;
  /** One campaign as this request's user may read it. */
  detail(request: Request, requested: OpenRequest): Promise<OpenAnswer>;
  /** The newest login to the storage of this request's browser, by its name; null without one. */
  storageLogin(request: Request): string | null;
  /** The tenant whose accounts open the campaigns; null where it is not known, or where there are no tenants. */
  readonly campaignTenant: string | null;
  /** ms since 1970 */
  now(): number;
}

/** `/`: the list of campaigns, rendered for the user who is logged in; without a session, the frame without data. */
export function campaignPage(deps: CampaignPageDeps) {
  return async function campaignPage(context: RequestContext): Promise<Response> {
    const request = context.request;
    const options = { assets: deps.assets, resultsUrl: deps.resultsUrl(request) };
    if (!deps.hasCluster) {
      return pageResponse(
        request,
        { title: LABELS.campaigns, body: <NoCluster here={context.target} hasStorage={deps.hasStorage} /> },
        options,
      );
    }
    const session = await deps.session(request);
    const query = new URLSearchParams(context.target.query);
    const user = userOf(session);
    const requested = user === null ? null : readOpenRequest(query);
    const [props, answer] = await Promise.all([
      boardProps(deps, { request, session, query, requested }),
      requested && deps.detail(request, requested),
    ]);
    const opened = requested && <OpenedCampaign requested={requested} answer={answer} now={props.renderedAt} />;
    const storageOnly = session === null ? deps.storageLogin(request) : null;
    const noted = notedClosedSide(request);
    // The side that is closed says so on each visit, the other one once.
    const closed = storageOnly !== null && noted?.side !== "campaigns"
      ? { side: "campaigns", reason: "no session" } as const
      : storageOnly !== null || noted?.isShown === false
      ? noted
      : null;
    const response = pageResponse(request, {
      title: LABELS.campaigns,
      troubled: props.first?.overview.troubled,
      isList: true,
      body: (
        <Shell user={user ?? storageOnly} current="campaigns" hasStorage={deps.hasStorage} here={context.target}>
          {closed !== null && (
            <p class="banner" role="status">
              {storageOnly !== null && <>{STORAGE_SENTENCES.loggedInAs(storageOnly)}{" "}</>}
              {closedSideSentence(closed, storageOnly, deps.campaignTenant)}{" "}
              <a href={loginPath(addressOf(context.target))}>{LABELS.logIn}</a>
            </p>
          )}
          {answer === null && opened}
          {/* The list would lead to the login at once, before the line above could be read. */}
          {storageOnly === null ? <CampaignBoard {...props} /> : <h1>{LABELS.campaigns}</h1>}
          {answer !== null && opened}
        </Shell>
      ),
    }, options);
    return rememberShown(response, request, noted);
  };
}

/** The list's page of a site without a cluster: nothing on it is read or waits. */
function NoCluster({ here, hasStorage }: Pick<SiteDeps, "hasStorage"> & { readonly here: RawTarget }) {
  return (
    <Shell user={null} current="campaigns" here={here} hasStorage={hasStorage}>
      <h1>{LABELS.campaigns}</h1>
      <p class="empty">{BOARD_SENTENCES.noCluster} {BOARD_SENTENCES.readElsewhere}</p>
    </Shell>
  );
}

interface BoardRequest {
  readonly request: Request;
  readonly session: Awaited<ReturnType<SiteDeps["session"]>>;
  readonly query: URLSearchParams;
  readonly requested: OpenRequest | null;
}

async function boardProps(
  deps: CampaignPageDeps,
  { request, session, query, requested }: BoardRequest,
): Promise<CampaignBoardProps> {
  const renderedAt = deps.now();
  const address = readListAddress(query);
  const nothing = { first: null, address, problem: null, renderedAt };
  if (session === "outage") return { ...nothing, problem: SENTENCES.resultsOutage };
  if (session === null) return nothing;
  let reaped = address.reaped;
  let answer = await deps.campaigns(request, reaped);
  if ("problem" in answer) return { ...nothing, problem: answer.problem };
  const older = olderCount(answer.reapedTotal, reaped);
  if (requested && older > 0 && !answer.jobs.some((job) => isNamed(job, requested))) {
    const all = await deps.campaigns(request, reaped + older);
    reaped = "problem" in all ? reaped : reapedWith(all.jobs, requested) ?? reaped;
    if (reaped > address.reaped) answer = await deps.campaigns(request, reaped);
    if ("problem" in answer) return { ...nothing, problem: answer.problem };
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

/** How many campaigns without a Job a list holds, by whole pages, that has the named one; null where there is none. */
function reapedWith(jobs: readonly JobSummary[], requested: OpenRequest): number | null {
  const goal = jobs.find((job) => job.jobGone && isNamed(job, requested));
  if (!goal) return null;
  // A list holds those that ended last.
  const endOf = ({ finishedAt }: JobSummary) => finishedAt === null ? 0 : Date.parse(finishedAt) || 0;
  const place = jobs.filter((job) => job.jobGone && endOf(job) >= endOf(goal)).length;
  return Math.ceil(place / REAPED_PAGE) * REAPED_PAGE;
}
