import type { ProgressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import type { Tallies } from "@/lib/campaigns/progress/tallies.ts";
import { campaignDetail } from "@/lib/campaigns/reader/campaign_detail.ts";
import type { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { AddRoute } from "@/lib/http/app.ts";
import { mount } from "@/lib/http/dispatch.ts";
import { HttpError, notFound } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { UpstreamError } from "@/lib/http/upstream.ts";
import { unreachableSentence } from "@/lib/presentation/outage_sentences.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import type { SessionCheck } from "@/lib/results/session_check.ts";
import type { Assets } from "@/lib/site/assets.ts";
import type { Session } from "@/lib/site/site.ts";
import { canBeCampaign, DEFAULT_REAPED, DEFAULT_VOLUMES, jobOperations } from "@/routes/api/v1/jobs.ts";
import { versionOperations } from "@/routes/api/v1/version.ts";
import { noCluster, siteOnlyOperations, unknownApiPath, webOperations } from "@/routes/api/v1/web_operation.ts";
import { mountPassThrough } from "@/routes/results/mod.ts";
import type { ReadinessCheck } from "./health.ts";
import type { CampaignsAnswer } from "./index.tsx";
import type { OpenAnswer, OpenRequest } from "./open_campaign.tsx";
import { mountConfigJs, mountSite, mountStaticFiles, type SiteOptions } from "./site.ts";

/** What answers about campaigns come from. */
export interface CampaignDeps {
  readonly source: CampaignSource;
  /** The lists of that source. */
  readonly lists: CampaignLists;
  readonly progress: ProgressReader;
  readonly tallies: Tallies;
  /** Keeps the status records up to date; absent where none are kept. */
  readonly records?: CampaignRecords;
  /** The namespaces served. */
  readonly namespaces: readonly string[];
  readonly session: SessionCheck;
  /** Drops what is remembered of sessions, by their cookies' values; absent where nothing is. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
  /** Whether the cluster answers and what is known of it is current, for readiness. */
  readonly reachable: () => Promise<boolean>;
}

/** The pages' files. */
export interface SiteFiles {
  readonly staticFolder: string;
  readonly assets: Assets;
}

/** What the web role needs. */
export interface WebDeps {
  /** The results role, here or elsewhere; null in a site without one. */
  readonly service: ResultsService | null;
  /** Null in a site without a cluster. */
  readonly campaigns: CampaignDeps | null;
  /** The base of result URLs for the browser that sent a request. */
  readonly resultsUrl: (request: Request) => string;
  readonly cookieStem: string;
  /** Release tag of the deployment. */
  readonly version: string;
  /** Version of this project. */
  readonly webVersion: string;
  /** Null: the API alone. */
  readonly site: SiteFiles | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** How long readiness waits for the results service, in ms. */
const RESULTS_PROBE_MS = 5000;

/** The read API, `/config.js`, the pages and the pass-through of results. */
export function mountWeb(add: AddRoute, web: WebDeps): void {
  const { campaigns, resultsUrl } = web;
  mount(add, readApi(web));
  if (!campaigns) add("/api/v1/jobs/*", noCluster);
  if (web.service) {
    const { service, cookieStem, log } = web;
    mountPassThrough(add, { service, cookieStem, log, forgetSessions: campaigns?.forgetSessions });
  }
  mountConfigJs(add, resultsUrl);
  if (web.site) mountSite(add, siteOptions(web, web.site));
}

/** The operations of the read API: what the session cookie's owner may read. */
export function readApi({ campaigns, resultsUrl, version, webVersion, now }: WebDeps): Operation[] {
  const operation = campaigns ? webOperations(campaigns.session) : siteOnlyOperations();
  return [
    ...versionOperations(operation, { version, web: webVersion }),
    ...(campaigns ? jobOperations(operation, { ...campaigns, resultsUrl, now }) : []),
  ];
}

/** What answers where no other route does: at unknown API paths, and with the site's other files. */
export function mountWebRest(add: AddRoute, web: WebDeps, hasGateway: boolean): void {
  // Files of the site never answer under the API's prefix.
  add("/api/v1/*", hasGateway ? unknown : web.campaigns ? unknownApiPath(web.campaigns.session) : noCluster);
  if (web.site) mountStaticFiles(add, siteOptions(web, web.site));
}

/** The upstreams of the web role: the cluster, and the results service. */
export function webChecks({ campaigns, service }: WebDeps): ReadinessCheck[] {
  const check = (name: string, answers: () => Promise<boolean>): ReadinessCheck => ({
    name,
    async probe() {
      const ready = await answers();
      return { state: ready ? "reachable" : "unreachable", ready };
    },
  });
  return [
    ...(campaigns ? [check("kubernetes", campaigns.reachable)] : []),
    ...(service ? [check("results", () => resultsAnswer(service))] : []),
  ];
}

/** Whether the results service says, as it must, that a request without a cookie has no session. */
async function resultsAnswer(service: ResultsService): Promise<boolean> {
  const path = "/results/_session";
  const signal = AbortSignal.timeout(RESULTS_PROBE_MS);
  try {
    const response = await service(new Request(`http://results.internal${path}`, { signal }), {
      target: { path, query: "" },
      peer: null,
    });
    await response.body?.cancel();
    return response.status === 401;
  } catch (error) {
    if (error instanceof UpstreamError) return false;
    throw error;
  }
}

function unknown(): never {
  throw notFound();
}

function siteOptions(web: WebDeps, { assets, staticFolder }: SiteFiles): SiteOptions {
  const { campaigns, resultsUrl, now } = web;
  return {
    assets,
    staticFolder,
    resultsUrl,
    now,
    session: (request) => campaigns ? pageSession(campaigns.session, request) : Promise.resolve(null),
    campaigns: (request) =>
      campaigns ? pageCampaigns(campaigns.lists, resultsUrl(request)) : Promise.resolve({ jobs: [], reapedTotal: 0 }),
    detail: (request, asked) =>
      campaigns
        ? pageDetail(campaigns, { asked, request, resultsUrl: resultsUrl(request), now })
        : Promise.resolve(null),
  };
}

async function pageSession(session: SessionCheck, request: Request): Promise<Session> {
  try {
    return await session(request);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.status === 401 ? null : "outage";
  }
}

async function pageCampaigns(lists: CampaignLists, resultsUrl: string): Promise<CampaignsAnswer> {
  try {
    return await lists.list({ resultsUrl, reaped: DEFAULT_REAPED });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: unreachableSentence(error.status, null) };
  }
}

interface PageDetailRequest {
  readonly asked: OpenRequest;
  readonly request: Request;
  readonly resultsUrl: string;
  /** ms since 1970 */
  readonly now: () => number;
}

async function pageDetail(
  campaigns: CampaignDeps,
  { asked: { namespace, name, offset }, request, resultsUrl, now }: PageDetailRequest,
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
    return { problem: unreachableSentence(error.status, { detail: error.detail }) };
  }
}
