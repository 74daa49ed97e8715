import CampaignBoard, { type CampaignBoardProps } from "@/islands/campaign_board.tsx";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { isInTrouble } from "@/lib/presentation/campaign_state.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { pageResponse } from "@/lib/site/page_response.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { type OpenAnswer, OpenedCampaign, type OpenRequest, readOpenRequest } from "./open_campaign.tsx";
import { Shell } from "./shell.tsx";

/** The list as the server could read it for this request's user. */
export type CampaignsAnswer =
  | { readonly jobs: readonly JobSummary[]; readonly reapedTotal: number }
  | { readonly problem: string };

export interface CampaignPageDeps extends SiteDeps {
  campaigns(request: Request): Promise<CampaignsAnswer>;
  /** One campaign as this request's user may read it. */
  detail(request: Request, asked: OpenRequest): Promise<OpenAnswer>;
  /** ms since 1970 */
  now(): number;
}

/** `/`: the list of campaigns, rendered for the user who is logged in; without a session, the frame without data. */
export function campaignPage(deps: CampaignPageDeps) {
  return async function campaignPage(context: RequestContext): Promise<Response> {
    const request = context.request;
    const session = await deps.session(request);
    const props = await boardProps(deps, request, session);
    const user = userOf(session);
    const asked = user === null ? null : readOpenRequest(new URLSearchParams(context.target.query));
    const opened = asked && { asked, answer: await deps.detail(request, asked) };
    return pageResponse(request, {
      title: LABELS.campaigns,
      troubled: props.first?.jobs.filter(isInTrouble).length,
      body: (
        <Shell user={user} current="campaigns">
          <CampaignBoard {...props} />
          {opened && <OpenedCampaign {...opened} />}
        </Shell>
      ),
    }, { assets: deps.assets, resultsUrl: deps.resultsUrl(request) });
  };
}

async function boardProps(
  deps: CampaignPageDeps,
  request: Request,
  session: Awaited<ReturnType<SiteDeps["session"]>>,
): Promise<CampaignBoardProps> {
  const renderedAt = deps.now();
  if (session === "outage") return { first: null, problem: SENTENCES.resultsOutage, renderedAt };
  if (session === null) return { first: null, problem: null, renderedAt };
  const answer = await deps.campaigns(request);
  if ("problem" in answer) return { first: null, problem: answer.problem, renderedAt };
  return { first: { ...answer, readAt: renderedAt }, problem: null, renderedAt };
}
