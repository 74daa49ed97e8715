import type { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import type { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { addBelow, type AddRoute, mount, type RequestLog, UNCACHED } from "@/lib/http/app.ts";
import { peerAddress } from "@/lib/http/request_context.ts";
import { HttpError, notFound } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { UpstreamError } from "@/lib/http/upstream.ts";
import { failedLoginPath, isUrlencoded } from "@/lib/results/results_login.ts";
import { LOGIN_PATH, LOGOUT_PATH, passThrough, type PassThroughOptions } from "@/lib/results/pass_through.ts";
import { RESULTS_PATH, type ResultsService } from "@/lib/results/results_service.ts";
import type { SessionCheck } from "@/lib/results/session_check.ts";
import { sessionValues } from "@/lib/auth/session_token.ts";
import type { Assets } from "@/lib/site/site.ts";
import type { Site } from "@/lib/site/state.ts";
import type { StorageSettings } from "@/lib/site/storage/logins.ts";
import {
  jobOperations,
  noCluster,
  siteOnlyOperations,
  unknownApiPath,
  versionOperations,
  webOperations,
} from "@/routes/api/v1/jobs.ts";
import { reachability, type ReadinessCheck } from "./health.ts";
import type { ProgressReader } from "@/lib/campaigns/progress/progress_reader.ts";

/** The sources of campaigns. */
export interface CampaignDeps {
  readonly source: CampaignSource;
  /** The lists of that source. */
  readonly lists: CampaignLists;
  readonly progress: ProgressReader;
  readonly tallies: Tallies;
  /** Keeps the status records up to date; absent where none are written. */
  readonly records?: CampaignRecords;
  /** The namespaces served. */
  readonly namespaces: readonly string[];
  readonly session: SessionCheck;
  /** Forgets cached sessions by their cookies' values; absent where none are cached. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
  /** Whether the cluster answers and the data of it is current, for readiness. */
  readonly reachable: () => Promise<boolean>;
}

/** The files of the pages. */
export interface SiteFiles {
  readonly staticFolder: string;
  readonly assets: Assets;
}

/** The dependencies of the web role. */
export interface WebDeps {
  /** Null or absent in a process that cannot have storage pages. */
  readonly storage?: StorageSettings | null;
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
  /** Accounts with a public password, as the login page offers them; absent where the store has none. */
  readonly sampleLogins?: Site["sampleLogins"];
  /** The tenant whose accounts open the campaigns; absent where it is not known, or where there are no tenants. */
  readonly campaignTenant?: string | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** How long readiness waits for the results service, in ms. */
const RESULTS_PROBE_MS = 5000;

/** The read API and the pass-through of results. */
export function mountWeb(add: AddRoute, web: WebDeps): void {
  mount(add, readApi(web));
  if (!web.campaigns) add("/api/v1/jobs/*", noCluster);
  if (web.service) {
    const { service, cookieStem, log, campaigns } = web;
    mountPassThrough(add, { service, cookieStem, log, forgetSessions: campaigns?.forgetSessions });
  }
}

/** The operations of the read API: what the session cookie's owner may read. */
export function readApi({ campaigns, resultsUrl, version, webVersion, now }: WebDeps): Operation[] {
  const operation = campaigns ? webOperations(campaigns.session) : siteOnlyOperations();
  return [
    ...versionOperations(operation, { version, web: webVersion }),
    ...(campaigns ? jobOperations(operation, { ...campaigns, resultsUrl, now }) : []),
  ];
}

/** The handler of API paths that no other route matches: files of the site never answer there. */
export function mountUnknownApi(add: AddRoute, { campaigns }: WebDeps, hasGateway: boolean): void {
  add("/api/v1/*", hasGateway ? unknown : campaigns ? unknownApiPath(campaigns.session) : noCluster);
}

function unknown(): never {
  throw notFound();
}

/** The upstreams of the web role: the cluster, and the results service. */
export function webChecks({ campaigns, service }: WebDeps): ReadinessCheck[] {
  return [
    ...(campaigns ? [reachability("kubernetes", campaigns.reachable)] : []),
    ...(service ? [reachability("results", () => resultsReachable(service))] : []),
  ];
}

/** Whether the results service returns 401 for a request without a cookie, as it must. */
async function resultsReachable(service: ResultsService): Promise<boolean> {
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

/** The status under which a client that left is logged. */
const CLIENT_LEFT = 499;

interface PassThroughDeps extends PassThroughOptions {
  /** Drops what this role remembers of sessions that log out, by their cookies' values. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
  readonly log: RequestLog;
}

/** `/results/…` on the web role: everything is the results role's answer. It needs the default headers before it. */
export function mountPassThrough(add: AddRoute, deps: PassThroughDeps): void {
  const pass = passThrough(deps);
  addBelow(add, RESULTS_PATH, async (context) => {
    context.operation = "results_pass_through";
    const { request, requestId, target } = context;
    const isForm = context.method === "POST" && target.path === LOGIN_PATH && isUrlencoded(request.headers);
    // Read now: once a client has left, its request can no longer be read.
    const isLogout = context.method === "POST" && target.path === LOGOUT_PATH;
    const loggedOut = isLogout ? sessionValues(request, deps.cookieStem) : [];
    try {
      return await passed();
    } catch (error) {
      // A form of a page was sent by a browser, which would show the JSON of an error as text.
      if (!isForm || !(error instanceof HttpError) || error.status === CLIENT_LEFT) throw error;
      return new Response(null, { status: 303, headers: { ...UNCACHED, Location: failedLoginPath(error, "/") } });
    } finally {
      deps.forgetSessions?.(loggedOut);
    }

    function passed(): Promise<Response> {
      return pass(request, {
        target,
        peer: peerAddress(context.info),
        source: context.source,
        requestId,
        // The type alone: what an upstream says of itself may hold anything.
        broken: (error) => deps.log.write({ level: "warn", request_id: requestId, broken_answer: nameOf(error) }),
        unread: context.info?.breakOff?.bind(context.info),
        known: ({ operation, caller, refusal }) => {
          if (operation) context.operation = operation;
          if (caller) context.caller = caller;
          if (refusal !== undefined) context.refusal = refusal;
        },
      });
    }
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
