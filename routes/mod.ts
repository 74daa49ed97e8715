import type { ChainReader } from "@/lib/operations/audit/chain_reader.ts";
import type { AcceptedIdentities, GuessLimits } from "@/lib/auth/credential_memory.ts";
import { Admission } from "@/lib/auth/admission.ts";
import type { Identify, S3Keys } from "@/lib/auth/store_credentials.ts";
import { type TokenFormat, tokenKey, tokenVerifier } from "@/lib/auth/token.ts";
import { accessLog, type MeasureRequest, type RequestLog } from "@/lib/http/access_log.ts";
import { type App, handledBy, httpApp, routesOf } from "@/lib/http/app.ts";
import type { AuditRecorder, LoginRecorder } from "@/lib/http/audit_event.ts";
import { cors, type CorsOrigins, defaultHeaders, hostCheck } from "@/lib/http/default_headers.ts";
import { mount } from "@/lib/http/dispatch.ts";
import {
  DEFAULT_MAX_REQUESTS,
  enterRole,
  limitConcurrency,
  MAX_LOGINS,
  MAX_LOGINS_PER_ADDRESS,
  MAX_UNPROVEN,
  MAX_UNPROVEN_PER_ADDRESS,
  maxTenantRequests,
  Slots,
  UnprovenRequests,
} from "@/lib/http/limit_concurrency.ts";
import type { Handler, Middleware, RequestContext } from "@/lib/http/request_context.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { redactText } from "@/lib/http/redact.ts";
import { type Mapi, mapiReachable, proveByMapi } from "@/lib/mapi/mapi_client.ts";
import type { ResultsStore } from "@/lib/results/file_response.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { IssuedForms } from "@/lib/s3/listing.ts";
import { bucketReachable, proveCredentials, s3Reachable } from "@/lib/s3/probes.ts";
import type { UploadSizes } from "@/lib/s3/upload/object_upload.ts";
import type { FixitySchedules } from "@/lib/tasks/fixity/schedules.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { auditOperations } from "@/routes/api/v1/audit.ts";
import {
  authOperations,
  capabilitiesOperations,
  credentialsOperations,
  type StorageBackend,
} from "@/routes/api/v1/auth.ts";
import { aclOperations, bucketSettingOperations } from "@/routes/api/v1/bucket_settings.ts";
import { bucketContentOperations, bucketOperations } from "@/routes/api/v1/buckets.ts";
import { countOperations } from "@/routes/api/v1/count_task.ts";
import { deleteTaskOperations } from "@/routes/api/v1/delete_task.ts";
import { transferOperations } from "@/routes/api/v1/transfer_task.ts";
import { type AccountEnded, managementOperations } from "@/routes/api/v1/mapi/mod.ts";
import { multipartOperations } from "@/routes/api/v1/multipart.ts";
import { objectVersionOperations, tagOperations } from "@/routes/api/v1/object_versions.ts";
import { copyOperations, objectOperations, objectUploadOperations } from "@/routes/api/v1/objects.ts";
import { gatewayOperations, optionalOperations } from "@/routes/api/v1/operation.ts";
import { bulkOperations, presignOperations } from "@/routes/api/v1/presign.ts";
import { activeTaskOperations } from "@/routes/api/v1/tasks.ts";
import { fixityScheduleOperations } from "@/routes/api/v1/fixity_schedules.ts";
import { fixityOperations } from "@/routes/api/v1/fixity_task.ts";
import { TaskStreams } from "@/routes/api/v1/task_progress.ts";
import { zipOperations } from "@/routes/api/v1/zip_task.ts";
import { mountResults } from "@/routes/results/mod.ts";
import { inProcessGateway } from "@/routes/storage/in_process_gateway.ts";
import { endLogins } from "@/routes/storage/deps.ts";
import { mountStorageDoor } from "@/routes/storage/mod.ts";
import { mountDocs } from "./docs.tsx";
import { healthOperations, PROBE_PATHS, reachability, type ReadinessCheck } from "./health.ts";
import { mountWeb, mountWebRest, readApi, siteDeps, storageDeps, webChecks } from "./web.ts";
import type { WebDeps } from "./web_deps.ts";

/** The dependencies of the gateway role. */
export interface GatewayDeps {
  /** The secrets whose tokens are accepted; the first one signs. */
  readonly tokenSecrets: readonly Uint8Array<ArrayBuffer>[];
  /** `signed` when absent. */
  readonly tokenFormat?: TokenFormat;
  readonly tokenLifetimeMinutes: number;
  readonly identify: Identify;
  /** The memory for credentials, shared by the roles of this process. */
  readonly accepted: AcceptedIdentities;
  readonly guesses: GuessLimits;
  readonly s3: S3;
  readonly mapi: Mapi;
  /** Works on background tasks in this process. */
  readonly tasks: TaskRunner;
  /** Fixity checks that run at times of their own; null or absent: none. */
  readonly schedules?: FixitySchedules | null;
  readonly backend: StorageBackend;
  readonly mapiEnabled: boolean;
  /** The keys with which a generic backend serves all callers; readiness lists buckets with them. */
  readonly sharedKeys: S3Keys | null;
  readonly corsOrigins: CorsOrigins;
  /** How the store writes version ids and the like; null or absent where it is not our own. */
  readonly issuedForms?: IssuedForms | null;
  /** Requests of one tenant at a time; as {@link maxTenantRequests} when absent. */
  readonly maxTenantRequests?: number;
  /** Whether any login is accepted, whatever the password: then none is recorded. */
  readonly acceptsAllLogins?: boolean;
  /** How uploads are cut; what the S3 API allows when absent. */
  readonly uploadSizes?: UploadSizes;
}

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
  /** The audit trail; null or absent: none is kept. */
  readonly audit?: AuditDeps | null;
  /** Traces requests; null or absent: nothing does. */
  readonly trace?: Middleware | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The audit trail of a process. */
interface AuditDeps {
  readonly recorder: AuditRecorder;
  readonly logins: LoginRecorder;
  /** Null where this process cannot read what it has recorded. */
  readonly reader: ChainReader | null;
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
  if (gateway && operations) {
    mount(routesOf(app, handledBy("gateway"), cors(gateway.corsOrigins)), operations);
    const all = [...operations, ...(web ? readApi(web) : []), ...health];
    mountDocs(open, all, web?.cookieStem ?? DEFAULT_COOKIE, web && siteDeps(web, storage));
    if (!web) open("/", toDocs);
  }
  const limited = limitConcurrency(role("site"), logins);
  const site = routesOf(app, handledBy("web"), limited);
  if (storage) mountStorageDoor(routesOf(app, handledBy("web")), storage);
  if (web) mountWeb(site, web, storage);
  if (results) {
    const hops = trustHops(deps.resultsTrustedHops ?? deps.trustedHops ?? 0);
    mountResults(routesOf(app, handledBy("results"), hops, limited), results);
  }
  if (web) mountWebRest(site, web, gateway !== null, storage);
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

/** Slots of requests: of the role, of those whose credentials are not proven, and of logins. */
interface GatewaySlots {
  readonly role: Slots;
  readonly unproven: UnprovenRequests;
  readonly logins: UnprovenRequests;
}

/** The operations of the gateway: the first two are open, the rest needs a bearer token. */
function gatewayApi(
  deps: GatewayDeps,
  { audit, now, log }: AppDeps,
  { role, unproven, logins }: GatewaySlots,
  accountEnded: AccountEnded,
): Operation[] {
  const { s3, mapi, backend } = deps;
  const keys = deps.tokenSecrets.map(tokenKey);
  const tenants = new Slots(Infinity, deps.maxTenantRequests ?? maxTenantRequests(DEFAULT_MAX_REQUESTS));
  const admission = new Admission({
    ...deps,
    sharedKeys: deps.sharedKeys !== null,
    role,
    tenants,
    unproven,
    prove: (caller, protocol) =>
      protocol === "mapi" && caller.tenant === null ? proveByMapi(mapi, caller) : proveCredentials(s3, caller),
    logins: deps.acceptsAllLogins ? null : audit?.logins ?? null,
  });
  const door = { verify: tokenVerifier(keys), admission, recorder: audit?.recorder ?? null, now };
  const operation = gatewayOperations(door, "s3");
  const optional = optionalOperations(operation, backend);
  const tasks = { s3, tasks: deps.tasks, streams: new TaskStreams() };
  const management = deps.mapiEnabled ? mapi : null;
  const prunedBy = backend === "hcp" ? management : null;
  const forms = deps.issuedForms ?? null;
  const warn = (message: string) => log.write({ level: "warn", message: redactText(message) });
  return [
    ...authOperations({
      key: keys[0],
      format: deps.tokenFormat ?? "signed",
      lifetimeMinutes: deps.tokenLifetimeMinutes,
      now,
      slots: logins,
    }),
    ...capabilitiesOperations(
      { mapi_enabled: deps.mapiEnabled, storage_backend: backend },
      (context) => enterRole(role, context),
    ),

    ...(deps.mapiEnabled ? managementOperations(gatewayOperations(door, "mapi"), mapi, now, accountEnded) : []),

    ...auditOperations(gatewayOperations(door, "mapi"), { mapi: management, reader: audit?.reader ?? null }),

    ...bucketOperations(operation, s3, { mapi: prunedBy, warn }, forms),
    ...bucketSettingOperations(optional, s3),
    ...bucketContentOperations(operation, s3, forms),
    ...aclOperations(optional, s3),
    ...tagOperations(optional, s3, forms),
    ...objectVersionOperations(optional, s3, forms),
    ...bulkOperations(operation, s3),
    ...countOperations(operation, tasks),
    ...deleteTaskOperations(operation, tasks),
    ...transferOperations(operation, tasks),
    ...fixityOperations(operation, tasks),
    ...activeTaskOperations(operation, { tasks: deps.tasks, mapi: prunedBy }),
    ...fixityScheduleOperations(operation, { schedules: deps.schedules ?? null, mapi: management, warn }),
    ...copyOperations(operation, s3),
    ...objectUploadOperations(operation, s3, deps.uploadSizes),
    ...objectOperations(operation, s3, forms),
    ...zipOperations(operation, { ...tasks, now, admit: (context) => enterRole(role, context) }),
    ...presignOperations(operation, s3),
    ...multipartOperations(operation, s3),
    ...credentialsOperations(operation, s3),
  ];
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

function storeCheck({ s3, mapi, backend, sharedKeys }: GatewayDeps): ReadinessCheck {
  return backend === "hcp"
    ? reachability("hcp", () => mapiReachable(mapi))
    : reachability("storage", () => s3Reachable(s3, sharedKeys));
}
