import CampaignBoard, { type CampaignBoardProps } from "@/islands/campaign_board.tsx";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";
import { readFrom, readListAddress } from "@/lib/presentation/list_address.ts";
import { listPage } from "@/lib/presentation/list_page.ts";
import { BOARD_SENTENCES } from "@/lib/presentation/board_sentences.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { onlyStorageSentence, STORAGE_SENTENCES } from "@/lib/presentation/storage/storage_sentences.ts";
import { pageResponse } from "@/lib/site/page_response.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { type OpenAnswer, OpenedCampaign, type OpenRequest, readOpenRequest } from "./open_campaign.tsx";
import { Shell } from "@/routes/frame/shell.tsx";

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
  detail(request: Request, asked: OpenRequest): Promise<OpenAnswer>;
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
    const props = await boardProps(deps, request, session, query);
    const user = userOf(session);
    const storageOnly = session === null ? deps.storageLogin(request) : null;
    const asked = user === null ? null : readOpenRequest(query);
    const opened = asked && { asked, answer: await deps.detail(request, asked) };
    return pageResponse(request, {
      title: LABELS.campaigns,
      troubled: props.first?.overview.troubled,
      isList: true,
      body: (
        <Shell user={user ?? storageOnly} current="campaigns" hasStorage={deps.hasStorage} here={context.target}>
          {storageOnly !== null && (
            <p class="banner" role="status">
              {STORAGE_SENTENCES.loggedInAs(storageOnly)} {onlyStorageSentence(deps.campaignTenant)}
            </p>
          )}
          <CampaignBoard {...props} />
          {opened && <OpenedCampaign {...opened} now={props.renderedAt} />}
        </Shell>
      ),
    }, options);
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

async function boardProps(
  deps: CampaignPageDeps,
  request: Request,
  session: Awaited<ReturnType<SiteDeps["session"]>>,
  query: URLSearchParams,
): Promise<CampaignBoardProps> {
  const renderedAt = deps.now();
  const address = readListAddress(query);
  const nothing = { first: null, address, problem: null, renderedAt };
  if (session === "outage") return { ...nothing, problem: SENTENCES.resultsOutage };
  if (session === null) return nothing;
  const answer = await deps.campaigns(request, address.reaped);
  if ("problem" in answer) return { ...nothing, problem: answer.problem };
  const { jobs, reapedTotal, ageMs } = answer;
  const staleSince = ageMs === null ? null : renderedAt - ageMs;
  // The browser adds the other cards: sending a thousand twice, as markup and as data, would cost a megabyte.
  const page = listPage(jobs, address, readFrom(query));
  return { ...nothing, first: { ...page, reapedTotal, readAt: renderedAt, staleSince } };
}
