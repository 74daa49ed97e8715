import type { AddRoute } from "@/lib/http/app.ts";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import { mount } from "@/lib/http/dispatch.ts";
import { notFound } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { UpstreamError } from "@/lib/http/upstream/upstream_error.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import type { SiteDeps } from "@/lib/site/site.ts";
import { jobOperations } from "@/routes/api/v1/jobs.ts";
import { versionOperations } from "@/routes/api/v1/version.ts";
import { noCluster, siteOnlyOperations, unknownApiPath, webOperations } from "@/routes/api/v1/web_operation.ts";
import { mountPassThrough } from "@/routes/results/mod.ts";
import type { GatewayService } from "@/lib/storage/gateway_service.ts";
import { storageKeys } from "@/lib/storage/storage_cookie.ts";
import { AuditReaders } from "@/lib/storage/audit_readers.ts";
import { BucketUsage } from "@/lib/storage/bucket_usage.ts";
import { LoginRights } from "@/lib/storage/login_rights.ts";
import { StorageGateway } from "@/lib/storage/storage_gateway.ts";
import type { StorageDeps } from "@/routes/storage/deps.ts";
import { loginsOf } from "@/routes/storage/requested_login.ts";
import { accountName } from "@/lib/storage/storage_account.ts";
import { mountStoragePages } from "@/routes/storage/mod.ts";
import { resultsLogin } from "@/routes/storage/results_side.ts";
import type { ReadinessCheck } from "./health.ts";
import { pageLoaders } from "./page_loaders.ts";
import { mountConfigJs, mountSite, mountStaticFiles, type SiteOptions } from "./site.ts";
import type { SiteFiles, WebDeps } from "./web_deps.ts";

/** How long readiness waits for the results service, in ms. */
const RESULTS_PROBE_MS = 5000;

/** The read API, `/config.js`, the pages and the pass-through of results. */
export function mountWeb(add: AddRoute, web: WebDeps, storage: StorageDeps | null): void {
  const { campaigns, resultsUrl } = web;
  mount(add, readApi(web));
  if (!campaigns) add("/api/v1/jobs/*", noCluster);
  if (web.service) {
    const { service, cookieStem, log } = web;
    mountPassThrough(add, { service, cookieStem, log, forgetSessions: campaigns?.forgetSessions });
  }
  mountConfigJs(add, resultsUrl);
  if (!web.site) return;
  const site = siteOptions(web, web.site, storage);
  mountSite(add, site, storage);
  if (storage) mountStoragePages(add, { ...storage, site });
}

/** What the storage pages of this process work with; null where there is no gateway to work with. */
export function storageDeps(
  web: WebDeps,
  ownGateway: GatewayService | null,
  logins: LoginRecorder | null,
): StorageDeps | null {
  const { storage, service, cookieStem, campaigns, now } = web;
  const gateway = storage?.gateway ?? ownGateway;
  if (!storage || !gateway || !web.site) return null;
  const { secrets, revoked, sessionHours, campaignTenant } = storage;
  const forgetSessions = campaigns?.forgetSessions;
  const storageGateway = new StorageGateway(gateway, now, (session) => void revoked.add([session]));
  return {
    gateway: storageGateway,
    usage: new BucketUsage(storageGateway, now),
    rights: new LoginRights(storageGateway, now),
    auditReaders: new AuditReaders(storageGateway, now),
    keys: storageKeys(secrets),
    revoked,
    sessionHours,
    campaignTenant,
    results: service && campaigns ? resultsLogin({ service, cookieStem, forgetSessions }) : null,
    logins,
    now,
  };
}

/** The operations of the read API: what the session cookie's owner may read. */
export function readApi({ campaigns, resultsUrl, version, webVersion, now }: WebDeps): Operation[] {
  const operation = campaigns ? webOperations(campaigns.session) : siteOnlyOperations();
  return [
    ...versionOperations(operation, { version, web: webVersion }),
    ...(campaigns ? jobOperations(operation, { ...campaigns, resultsUrl, now }) : []),
  ];
}

/** The handlers of paths that no other route matches: unknown API paths, and the site's other files. */
export function mountWebRest(add: AddRoute, web: WebDeps, hasGateway: boolean, storage: StorageDeps | null): void {
  // Files of the site never answer under the API's prefix.
  add("/api/v1/*", hasGateway ? unknown : web.campaigns ? unknownApiPath(web.campaigns.session) : noCluster);
  if (web.site) mountStaticFiles(add, siteOptions(web, web.site, storage));
}

/** The upstreams of the web role: the cluster, and the results service. */
export function webChecks({ campaigns, service }: WebDeps): ReadinessCheck[] {
  const check = (name: string, isReachable: () => Promise<boolean>): ReadinessCheck => ({
    name,
    async probe() {
      const ready = await isReachable();
      return { state: ready ? "reachable" : "unreachable", ready };
    },
  });
  return [
    ...(campaigns ? [check("kubernetes", campaigns.reachable)] : []),
    ...(service ? [check("results", () => resultsReachable(service))] : []),
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

function unknown(): never {
  throw notFound();
}

/** What a page in the frame of the site needs; null in a process without pages. */
export function siteDeps(web: WebDeps, storage: StorageDeps | null): SiteDeps | null {
  return web.site && siteOptions(web, web.site, storage);
}

function siteOptions(web: WebDeps, files: SiteFiles, storage: StorageDeps | null): SiteOptions {
  const { resultsUrl, sampleLogins = null, campaignTenant = null, now } = web;
  return {
    ...files,
    ...pageLoaders(web),
    hasStorage: storage !== null,
    storageLogin: (request) => {
      const login = storage && loginsOf(storage, request).at(0);
      return login ? accountName(login) : null;
    },
    resultsUrl,
    sampleLogins,
    campaignTenant,
    now,
  };
}
