import { addBelow, type AddRoute } from "@/lib/http/app.ts";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import { mount } from "@/lib/http/dispatch.ts";
import { notFound } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { Handler } from "@/lib/http/request_context.ts";
import { UpstreamError } from "@/lib/http/upstream/upstream_request.ts";
import { DEV_RELOAD_PATH } from "@/lib/pages/page_paths.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import { BUILD_PATH, buildFolder, devReload, type SiteDeps } from "@/lib/site/site.ts";
import type { GatewayService } from "@/lib/auth/gateway_service.ts";
import { LoginFacts } from "@/lib/auth/login_facts.ts";
import { accountName, storageKeys } from "@/lib/auth/storage_cookie.ts";
import { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import { jobOperations } from "@/routes/api/v1/jobs.ts";
import {
  noCluster,
  siteOnlyOperations,
  unknownApiPath,
  versionOperations,
  webOperations,
} from "@/routes/api/v1/web_operation.ts";
import { shownPage } from "@/routes/frame/shown_page.ts";
import { mountPassThrough } from "@/routes/results/mod.ts";
import { loginsOf, type StorageDeps } from "@/routes/storage/deps.ts";
import { loginForm, logoutForm } from "@/routes/storage/login.ts";
import { mountStoragePages } from "@/routes/storage/mod.ts";
import { resultsLogin } from "@/routes/storage/results_side.ts";
import { altoPage } from "./alto.tsx";
import { configJs } from "./config_js.ts";
import { reachability, type ReadinessCheck } from "./health.ts";
import { campaignPage, type CampaignPageDeps } from "./index.tsx";
import { chooseLanguage } from "./language.ts";
import { logPage } from "./log.tsx";
import { loginPage, type LoginPageDeps } from "./login.tsx";
import { notFoundPage } from "./not_found.tsx";
import { pageLoaders } from "./page_loaders.ts";
import { staticFiles } from "./static_files.ts";
import { VIEWER_PATHS, viewerPage } from "./viewer.tsx";
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

/** The dependencies of the storage pages of this process; null where there is no gateway to work with. */
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
    facts: new LoginFacts(storageGateway, now),
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

function unknown(): never {
  throw notFound();
}

/** The dependencies of a page in the frame of the site; null in a process without pages. */
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

interface SiteOptions extends CampaignPageDeps, LoginPageDeps {
  /** Folder of further files of the site. */
  readonly staticFolder: string;
}

/** The pages and what they load. All of it is open: a page shows data only to a user who is logged in. */
export function mountSite(add: AddRoute, options: SiteOptions, storage: StorageDeps | null): void {
  page(add, "/", "campaigns_page", campaignPage(options));
  const login = loginPage(options);
  if (storage) {
    form(add, "/login", loginForm(storage), (context) => shownPage(context, "login_page", login));
    form(add, "/logout", logoutForm(storage), (context) => shownPage(context, "logout_page", toLogin));
  } else page(add, "/login", "login_page", login);
  add("/language", chooseLanguage);
  page(add, "/log", "log_page", logPage(options));
  for (const path of VIEWER_PATHS) page(add, path, "viewer_page", viewerPage(options));
  page(add, "/alto", "alto_page", altoPage(options));
  if (options.assets.devScript !== null) page(add, DEV_RELOAD_PATH, "dev_reload", devReload());
  const { resultsUrl } = options;
  addBelow(add, BUILD_PATH, staticFiles({ folder: buildFolder(), prefix: BUILD_PATH, isBuild: true, resultsUrl }));
}

/** The addresses that the browser needs, also in a process without pages. */
export function mountConfigJs(add: AddRoute, resultsUrl: (request: Request) => string): void {
  page(add, "/config.js", "config_js", configJs(resultsUrl));
}

/** The site's other files: the last of all routes, since every other one wins over a file of its name. */
export function mountStaticFiles(add: AddRoute, options: SiteOptions): void {
  const { staticFolder: folder, resultsUrl } = options;
  add("*", staticFiles({ folder, prefix: "/", resultsUrl, missing: notFoundPage(options) }));
}

function page(add: AddRoute, path: string, operation: string, handler: Handler): void {
  add(path, (context) => shownPage(context, operation, handler));
}

/** A page whose form is sent to its own address. */
function form(add: AddRoute, path: string, posted: Handler, page: Handler): void {
  add(path, (context) => context.method === "POST" ? posted(context) : page(context));
}

function toLogin(): Response {
  return new Response(null, { status: 303, headers: { Location: "/login" } });
}
