import {
  accessLog,
  addBelow,
  type App,
  cors,
  defaultHeaders,
  handledBy,
  hostCheck,
  httpApp,
  type MeasureRequest,
  mount,
  type RequestLog,
  routesOf,
} from "@/lib/http/app.ts";
import {
  DEFAULT_MAX_REQUESTS,
  type Handler,
  limitConcurrency,
  MAX_LOGINS,
  MAX_LOGINS_PER_ADDRESS,
  MAX_UNPROVEN,
  MAX_UNPROVEN_PER_ADDRESS,
  type Middleware,
  type RequestContext,
  Slots,
  UnprovenRequests,
} from "@/lib/http/request_context.ts";
import type { ResultsStore } from "@/lib/results/file_response.ts";
import { bucketReachable } from "@/lib/s3/probes.ts";
import { STORAGE_API_PATH } from "@/lib/auth/storage_api_path.ts";
import { inProcessGateway } from "@/lib/auth/in_process_gateway.ts";
import { endLogins } from "@/lib/site/storage/logins.ts";
import type { AccountEnded } from "@/routes/api/v1/mapi/mod.ts";
import { mountDocs } from "@/routes/docs.tsx";
import { type AuditDeps, gatewayApi, type GatewayDeps, storeCheck } from "@/routes/gateway.ts";
import { healthOperations, PROBE_PATHS, reachability, type ReadinessCheck } from "@/routes/health.ts";
import { mountResults } from "@/routes/results.ts";
import { storageApiProxy } from "@/routes/storage/api.ts";
import { mountUnknownApi, mountWeb, readApi, webChecks, type WebDeps } from "@/routes/web.ts";
import { mountConfigJs, mountSite, mountStaticFiles, siteOf, storageDeps } from "./pages.ts";

export interface AppDeps {
  /** Here and below null means that this process does not play the role. */
  readonly gateway: GatewayDeps | null;
  readonly web: WebDeps | null;
  /** The results role where it is reached directly; beside the web role, requests come through its pass-through. */
  readonly results: Handler | null;
  /** How many proxies in front of the results role are ours where it is reached directly; as `trustedHops` when absent. */
  readonly resultsTrustedHops?: number;
  /** The store that the results role of this process reads; null where it plays none. */
  readonly resultsStore: ResultsStore | null;
  /** Whether the disk of the embedded store is full; null or absent without one. */
  readonly diskIsFull?: (() => Promise<boolean>) | null;
  /** Whether little room is left on that disk; never when absent. */
  readonly diskIsLow?: () => Promise<boolean>;
  /** Whether the server in which replicas share background tasks replies; null or absent without one. */
  readonly sharedState?: (() => Promise<boolean>) | null;
  /** How many proxies in front of the gateway and web roles are ours; none when absent. */
  readonly trustedHops?: number;
  /** Host names we go by; null: any. */
  readonly allowedHosts: readonly string[] | null;
  /** Requests that each role works on at a time; {@link DEFAULT_MAX_REQUESTS} when absent. */
  readonly maxRequests?: number;
  /** Counts requests and watches limits, for metrics; null or absent: nothing does. */
  readonly measure?: Measure | null;
  /** The audit trail; null or absent without one. */
  readonly audit?: AuditDeps | null;
  /** Traces requests; null or absent: nothing does. */
  readonly trace?: Middleware | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Fills the metrics. */
interface Measure {
  readonly request: MeasureRequest;
  /** Adds a limit of requests at a time. */
  slots(limit: string, slots: () => { readonly count: number; readonly max: number }): void;
}

/** The name of the session cookie where no web role configures one. */
const DEFAULT_COOKIE = "results_session";

/** The app with all routes of this process. */
export function buildApp(deps: AppDeps): App {
  const { gateway, web, results, resultsStore, allowedHosts, log, now } = deps;
  const role = (limit: string) => {
    const slots = new Slots(deps.maxRequests ?? DEFAULT_MAX_REQUESTS);
    deps.measure?.slots(limit, () => slots);
    return slots;
  };
  const logins = new UnprovenRequests(MAX_LOGINS_PER_ADDRESS, MAX_LOGINS);
  const unproven = new UnprovenRequests(MAX_UNPROVEN_PER_ADDRESS, MAX_UNPROVEN);
  deps.measure?.slots("logins", () => logins);
  deps.measure?.slots("unproven", () => unproven);
  const app = httpApp({ log, trustedHops: deps.trustedHops });
  if (deps.trace) app.use(deps.trace);
  app.use(defaultHeaders, accessLog(log, { silent: PROBE_PATHS, measure: deps.measure?.request }));
  if (allowedHosts) app.use(hostCheck(allowedHosts));

  const checks = [
    ...(gateway ? [storeCheck(gateway)] : []),
    ...(resultsStore ? [resultsStoreCheck(resultsStore)] : []),
    ...(web ? webChecks(web) : []),
    ...(deps.diskIsFull ? [diskCheck(deps.diskIsFull, deps.diskIsLow)] : []),
    ...(deps.sharedState ? [sharedStateCheck(deps.sharedState)] : []),
  ];
  const health = healthOperations(checks, now);
  const open = routesOf(app);
  mount(open, health);
  const accountEnded: AccountEnded = (account) => storage && endLogins(storage, account);
  const operations = gateway && gatewayApi(gateway, deps, { role: role("gateway"), unproven, logins }, accountEnded);
  const ownGateway = operations && inProcessGateway(operations, { log, trustedHops: deps.trustedHops });
  const storage = web && storageDeps(web, ownGateway, deps.audit?.logins ?? null);
  const pages = web && siteOf(web, storage);
  if (gateway && operations) {
    mount(routesOf(app, handledBy("gateway"), cors(gateway.corsOrigins)), operations);
    const all = [...operations, ...(web ? readApi(web) : []), ...health];
    mountDocs(open, all, web?.cookieStem ?? DEFAULT_COOKIE, pages);
    if (!web) open("/", toDocs);
  }
  const limited = limitConcurrency(role("site"), logins);
  const site = routesOf(app, handledBy("web"), limited);
  // The gateway itself limits the requests that come through.
  if (storage) addBelow(routesOf(app, handledBy("web")), STORAGE_API_PATH, storageApiProxy(storage));
  if (web) {
    mountWeb(site, web);
    mountConfigJs(site, web);
  }
  if (pages) mountSite(site, pages);
  if (results) {
    const hops = trustHops(deps.resultsTrustedHops ?? deps.trustedHops ?? 0);
    mountResults(routesOf(app, handledBy("results"), hops, limited), results);
  }
  if (web) mountUnknownApi(site, web, gateway !== null);
  if (pages) mountStaticFiles(site, pages);
  return app;
}

function toDocs(context: RequestContext): Response {
  context.mustRead();
  return new Response(null, { status: 302, headers: { Location: "/docs" } });
}

function trustHops(hops: number): Middleware {
  return function trustHops(c, next) {
    c.get("context").trustHops(hops);
    return next();
  };
}

function resultsStoreCheck({ s3, tenant, bucket, probeKeys }: ResultsStore): ReadinessCheck {
  return reachability("results_store", () => bucketReachable(s3, probeKeys ?? null, tenant, bucket));
}

function diskCheck(isFull: () => Promise<boolean>, isLow = () => Promise.resolve(false)): ReadinessCheck {
  return {
    name: "disk",
    async probe() {
      if (await isFull()) return { state: "full", ready: false };
      return { state: await isLow() ? "nearly full" : "writable", ready: true };
    },
  };
}

/** Always ready: without shared state background tasks wait, and everything else goes on. */
function sharedStateCheck(isReachable: () => Promise<boolean>): ReadinessCheck {
  const { name, probe } = reachability("shared_state", isReachable);
  return { name, probe: async () => ({ ...await probe(), ready: true }) };
}
