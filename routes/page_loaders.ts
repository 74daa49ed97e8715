import { campaignDetail } from "@/lib/campaigns/reader/campaign_detail.ts";
import { STALE_MS } from "@/lib/campaigns/source/campaign_source.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { unreachableSentence } from "@/lib/pages/page_sentences.ts";
import type { SessionCheck } from "@/lib/results/session_check.ts";
import type { Session } from "@/lib/site/site.ts";
import { canBeCampaign, DEFAULT_VOLUMES } from "@/routes/api/v1/jobs.ts";
import type { CampaignPageDeps, CampaignsAnswer } from "./index.tsx";
import type { OpenAnswer, OpenRequest } from "./open_campaign.tsx";
import type { CampaignDeps, WebDeps } from "./web_deps.ts";

/** The functions that read what a page shows, for the user of a request. */
type PageLoaders = Pick<CampaignPageDeps, "hasCluster" | "session" | "campaigns" | "detail">;

/** The loaders of the pages. An expected failure, such as an unreachable cluster, is data that the page shows. */
export function pageLoaders(
  { campaigns, resultsUrl, now }: Pick<WebDeps, "campaigns" | "resultsUrl" | "now">,
): PageLoaders {
  if (!campaigns) return WITHOUT_CLUSTER;
  return {
    hasCluster: true,
    session: (request) => loadSession(campaigns.session, request),
    campaigns: (request, reaped) => loadCampaigns(campaigns, resultsUrl(request), reaped),
    detail: (request, requested) => loadDetail(campaigns, { requested, request, resultsUrl: resultsUrl(request), now }),
  };
}

/** In a site without a cluster there is no login and there are no campaigns. */
const WITHOUT_CLUSTER: PageLoaders = {
  hasCluster: false,
  session: () => Promise.resolve(null),
  campaigns: () => Promise.resolve({ jobs: [], reapedTotal: 0, ageMs: null }),
  detail: () => Promise.resolve(null),
};

async function loadSession(session: SessionCheck, request: Request): Promise<Session> {
  try {
    return await session(request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.status === 401 ? null : "outage";
  }
}

async function loadCampaigns(
  { lists, source }: CampaignDeps,
  resultsUrl: string,
  reaped: number,
): Promise<CampaignsAnswer> {
  try {
    const list = await lists.list({ resultsUrl, reaped });
    const age = source.age() ?? 0;
    return { ...list, ageMs: age > STALE_MS ? age : null };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: unreachableSentence(error.status, null) };
  }
}

interface DetailRequest {
  readonly requested: OpenRequest;
  readonly request: Request;
  readonly resultsUrl: string;
  /** ms since 1970 */
  readonly now: () => number;
}

async function loadDetail(
  campaigns: CampaignDeps,
  { requested: { namespace, name, offset }, request, resultsUrl, now }: DetailRequest,
): Promise<OpenAnswer> {
  if (!canBeCampaign(campaigns.namespaces, namespace, name)) return null;
  try {
    const caller = await campaigns.session(request);
    const detail = await campaignDetail({ ...campaigns, now }, {
      namespace,
      name,
      page: { offset, limit: DEFAULT_VOLUMES },
      resultsUrl,
      viewer: { ...caller, signal: request.signal },
    });
    return detail && { detail };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: unreachableSentence(error.status, error.coded) };
  }
}
