import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import { addBelow, type AddRoute } from "@/lib/http/app.ts";
import { DEV_RELOAD_PATH } from "@/lib/pages/page_paths.ts";
import { AUDIT_PATH, FIXITY_PATH, STORAGE_PATH, TASKS_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { campaignPages } from "@/lib/campaigns/reader/campaign_detail.ts";
import { pageSession } from "@/lib/results/session_check.ts";
import { type Frame, mountPages, type Route, routeHandler } from "@/lib/site/mount_pages.tsx";
import { BUILD_PATH, buildFolder, devReload } from "@/lib/site/site.ts";
import type { Site, State, StorageState } from "@/lib/site/state.ts";
import { staticFiles } from "@/lib/site/static_files.ts";
import type { GatewayService } from "@/lib/auth/gateway_service.ts";
import { LoginFacts } from "@/lib/auth/login_facts.ts";
import type { StorageDeps } from "@/lib/site/storage/logins.ts";
import { resultsLogin } from "@/lib/results/form_login.ts";
import { storageKeys } from "@/lib/auth/storage_cookie.ts";
import { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import type { WebDeps } from "@/routes/web.ts";
import * as notFound from "@/routes/_404.tsx";
import App from "@/routes/_app.tsx";
import Layout from "@/routes/_layout.tsx";
import { handler as inLanguage } from "@/routes/_middleware.ts";
import * as alto from "@/routes/alto.tsx";
import * as configJs from "@/routes/config.js.ts";
import * as campaigns from "@/routes/index.tsx";
import * as language from "@/routes/language.ts";
import * as log from "@/routes/log.tsx";
import * as login from "@/routes/login.tsx";
import * as logout from "@/routes/logout.ts";
import * as viewer from "@/routes/uv.html.tsx";
import StorageLayout from "@/routes/(storage)/_layout.tsx";
import { handler as storageVisit } from "@/routes/(storage)/_middleware.tsx";
import * as audit from "@/routes/(storage)/audit.tsx";
import * as fixity from "@/routes/(storage)/fixity.tsx";
import * as folder from "@/routes/(storage)/storage/folder.tsx";
import * as buckets from "@/routes/(storage)/storage/index.tsx";
import * as object from "@/routes/(storage)/storage/object.tsx";
import * as tasks from "@/routes/(storage)/storage/tasks.tsx";

/** App, layout and middleware of every page. */
const FRAME: Frame<State> = { App, layouts: [Layout], middleware: [inLanguage] };

const ROUTES: readonly Route<State>[] = [
  { path: "/", name: "campaigns", module: campaigns },
  { path: "/language", name: "language", module: language },
  { path: "/log", name: "log", module: log },
  { path: "/alto", name: "alto", module: alto },
  ...["/uv.html", "/uv", "/uv.html/", "//uv.html"].map((path) => ({ path, name: "viewer", module: viewer })),
];

/** The login of a site with storage pages. */
const LOGIN_ROUTES: readonly Route<StorageState>[] = [
  { path: "/login", name: "login", module: login },
  { path: "/logout", name: "logout", module: logout },
];

/** The login of any other site, whose forms are sent to the results role. */
const LOGIN_WITHOUT_FORM: Route<State> = {
  path: "/login",
  name: "login",
  module: { ...login, handler: { GET: login.handler.GET } },
};

const STORAGE_FRAME: Frame<StorageState> = {
  App,
  layouts: [Layout, StorageLayout],
  middleware: [inLanguage, storageVisit],
};

const STORAGE_ROUTES: readonly Route<StorageState>[] = [
  { path: STORAGE_PATH, name: "storage", module: buckets },
  { path: `${STORAGE_PATH}/folder`, name: "storage_folder", module: folder },
  { path: `${STORAGE_PATH}/object`, name: "storage_object", module: object },
  { path: TASKS_PATH, name: "tasks", module: tasks },
  { path: AUDIT_PATH, name: "audit", module: audit },
  { path: FIXITY_PATH, name: "fixity", module: fixity },
];

/** The pages. All of them are open: a page shows data only to a user who is logged in. */
export function mountSite(add: AddRoute, site: Site): void {
  const { storage, resultsUrl } = site;
  mountPages(add, ROUTES, FRAME, site);
  if (storage) {
    mountPages(add, LOGIN_ROUTES, FRAME, { ...site, storage });
    mountPages(add, STORAGE_ROUTES, STORAGE_FRAME, { ...site, storage });
  } else {
    mountPages(add, [LOGIN_WITHOUT_FORM], FRAME, site);
  }
  if (site.assets.devScript !== null) add(DEV_RELOAD_PATH, devReload());
  addBelow(add, BUILD_PATH, staticFiles({ folder: buildFolder(), prefix: BUILD_PATH, isBuild: true, resultsUrl }));
}

/** The addresses that the browser needs, also in a process without pages. */
export function mountConfigJs(add: AddRoute, { resultsUrl }: Pick<Site, "resultsUrl">): void {
  add(
    "/config.js",
    routeHandler({ name: "config_js", module: configJs }, { ...FRAME, middleware: [] }, { resultsUrl }),
  );
}

/** The site's other files: the last of all routes, since every other one wins over a file of its name. */
export function mountStaticFiles(add: AddRoute, site: Site): void {
  const { staticFolder: folder, resultsUrl } = site;
  const missing = routeHandler({ name: "not_found", module: notFound }, FRAME, site);
  add("*", staticFiles({ folder, prefix: "/", resultsUrl, missing }));
}

/** The dependencies of pages; null in a process without them. */
export function siteOf(web: WebDeps, storage: StorageDeps | null): Site | null {
  const { campaigns, resultsUrl, sampleLogins = null, campaignTenant = null, now } = web;
  return web.site && {
    ...web.site,
    resultsUrl,
    session: (request) => campaigns ? pageSession(campaigns.session, request) : Promise.resolve(null),
    campaigns: campaigns && campaignPages({ ...campaigns, resultsUrl, now }),
    storage,
    sampleLogins,
    campaignTenant,
    now,
  };
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
