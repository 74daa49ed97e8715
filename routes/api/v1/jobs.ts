import { z } from "zod";
import { jobDetail, jobList } from "@/lib/campaigns/projection/types.ts";
import {
  type CampaignDetailDeps,
  campaignDetailJson,
  canBeCampaign,
  DEFAULT_VOLUMES,
} from "@/lib/campaigns/reader/campaign_detail.ts";
import type { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { type CampaignSource, STALE_MS } from "@/lib/campaigns/source/campaign_source.ts";
import { compressibleJson, compressibleResponse } from "@/lib/http/header_values.ts";
import { HttpError, notFound } from "@/lib/http/errors.ts";
import type { Handler } from "@/lib/http/request_context.ts";
import { type Authenticate, type Method, type Operation, operationsFor } from "@/lib/http/operation.ts";
import type { ResultsSession, SessionCheck } from "@/lib/results/session_check.ts";

/** Header with the number of all reaped campaigns. */
const REAPED_TOTAL_HEADER = "X-Reaped-Total";

/** Header with the age of what is shown, whole seconds: only where it may be out of date. */
const DATA_AGE_HEADER = "X-Data-Age";

/** spec, Limits. */
const DEFAULT_REAPED = 20;
const MAX_REAPED = 10_000;
const MAX_VOLUMES = 1000;

/** Creates operations behind the session cookie. */
type WebOperation = ReturnType<typeof operationsFor<ResultsSession>>;

/** Operations whose caller is known by the session cookie alone; bearer tokens are not looked at. */
export function webOperations(session: SessionCheck): WebOperation {
  const authenticate: Authenticate<ResultsSession> = async (context) => {
    const caller = await session(context.request);
    context.caller = { username: caller.user, tenant: null };
    return caller;
  };
  return operationsFor(authenticate, "session");
}

/** The same operations for a site without a cluster: there is nothing to log in to, and nothing to read. */
export function siteOnlyOperations(): WebOperation {
  return operationsFor<ResultsSession>(noCluster, "session");
}

/** The response of every path of the read API in a site without a cluster (spec, Errors). */
export function noCluster(): never {
  throw new HttpError(503, "this site shows no cluster: CAMPAIGN_WEB_SITE_ONLY is set");
}

/** An unknown path under /api/v1 in a process without the gateway's routes: 401 without a session, else 404. */
export function unknownApiPath(session: SessionCheck): Handler {
  return async function unknownApiPath({ request }) {
    await session(request);
    throw notFound();
  };
}

/** Operations for GET, and for HEAD with the same headers and no body. */
function readOperations(of: (method: Method, id: (name: string) => string) => Operation): Operation[] {
  return [of("GET", (name) => name), of("HEAD", (name) => `${name}_head`)];
}

const versions = z.object({
  version: z.string().meta({ description: "Release tag of the deployment" }),
  web: z.string().meta({ description: "Version of the web front" }),
}).meta({ id: "Versions" });

/** The release that this process runs (spec, Versioning). */
export function versionOperations(operation: WebOperation, current: z.output<typeof versions>): Operation[] {
  return readOperations((method, id) =>
    operation({
      id: id("version"),
      method,
      path: "/api/v1/version",
      tag: "Campaigns",
      summary: "Get the version of this process",
      responses: { 200: { description: "The versions", schema: versions } },
      handler: (_input, { request }) => compressibleJson(request, current),
    })
  );
}

interface JobsDeps extends CampaignDetailDeps {
  readonly lists: CampaignLists;
  /** The namespaces served. */
  readonly namespaces: readonly string[];
  /** The base of result URLs for the browser that sent a request. */
  readonly resultsUrl: (request: Request) => string;
}

/** The campaigns, and one of them with its volumes (spec, Endpoints). */
export function jobOperations(operation: WebOperation, deps: JobsDeps): Operation[] {
  return [...listOperations(operation, deps), ...detailOperations(operation, deps)];
}

function listOperations(operation: WebOperation, { source, lists, resultsUrl }: JobsDeps): Operation[] {
  return readOperations((method, id) =>
    operation({
      id: id("list_campaigns"),
      method,
      path: "/api/v1/jobs",
      tag: "Campaigns",
      summary: "List campaigns",
      description:
        `Returns live campaigns and the newest whose Job is gone. \`${REAPED_TOTAL_HEADER}\` counts the latter. ` +
        `\`${DATA_AGE_HEADER}\` is the age of the data in seconds, if the cluster could not be followed lately.`,
      query: z.object({
        reaped: z.int().min(0).max(MAX_REAPED).default(DEFAULT_REAPED)
          .meta({ description: "Maximum number of campaigns whose Job is gone" }),
      }),
      responses: {
        200: { description: "The campaigns, newest first", schema: jobList },
        422: { description: "Invalid query parameter" },
        502: { description: "The cluster or the results service did not respond" },
      },
      async handler({ query }, context) {
        const { request } = context;
        const { body, reapedTotal } = await lists.bytes({ resultsUrl: resultsUrl(request), reaped: query.reaped });
        const headers = { [REAPED_TOTAL_HEADER]: String(reapedTotal), ...ageOf(source) };
        return compressibleResponse(request, body, "application/json", { headers });
      },
    })
  );
}

function detailOperations(operation: WebOperation, deps: JobsDeps): Operation[] {
  const operations = readOperations((method, id) =>
    operation({
      id: id("campaign"),
      method,
      path: "/api/v1/jobs/{namespace}/{name}",
      tag: "Campaigns",
      summary: "Get a campaign with a page of its volumes",
      params: z.object({ namespace: z.string(), name: z.string() }),
      query: z.object({
        offset: z.int().min(0).default(0).meta({ description: "Number of volumes to skip" }),
        limit: z.int().min(1).max(MAX_VOLUMES).default(DEFAULT_VOLUMES).meta({
          description: "Maximum number of volumes",
        }),
      }),
      responses: {
        200: { description: "The campaign", schema: jobDetail },
        404: { description: "No such campaign" },
        422: { description: "Invalid query parameter" },
        502: { description: "The cluster or the results service did not respond" },
      },
      async handler({ params: { namespace, name }, query: page, caller }, context) {
        const canBe = canBeCampaign(deps.namespaces, namespace, name);
        const request = context.request;
        const detail = canBe && await campaignDetailJson(deps, {
          namespace,
          name,
          page,
          resultsUrl: deps.resultsUrl(request),
          viewer: { ...caller, signal: request.signal },
        });
        if (!detail) throw notFound("job");
        return compressibleResponse(request, detail, "application/json", { headers: ageOf(deps.source) });
      },
    })
  );
  return operations.map(withoutBadEncoding);
}

function ageOf(source: CampaignSource): Record<string, string> {
  const age = source.age() ?? 0;
  return age > STALE_MS ? { [DATA_AGE_HEADER]: String(Math.floor(age / 1000)) } : {};
}

/** A name that cannot be decoded is the name of nothing: 404 like other such names, not a 400. */
function withoutBadEncoding(operation: Operation): Operation {
  return {
    ...operation,
    handle: (context, params) =>
      operation.handle(context, () => {
        try {
          return params();
        } catch (error) {
          if (error instanceof HttpError) return { namespace: "", name: "" };
          throw error;
        }
      }),
  };
}
