import { addBelow, type AddRoute } from "@/lib/http/app.ts";
import type { Handler } from "@/lib/http/middleware.ts";
import { DEV_RELOAD_PATH } from "@/lib/presentation/page_paths.ts";
import { BUILD_PATH, buildFolder } from "@/lib/site/built_site.ts";
import { devReload } from "@/lib/site/dev_reload.ts";
import { shownPage } from "@/routes/frame/shown_page.ts";
import { altoPage } from "./alto.tsx";
import { configJs } from "./config_js.ts";
import { campaignPage, type CampaignPageDeps } from "./index.tsx";
import { chooseLanguage } from "./language.ts";
import { logPage } from "./log.tsx";
import { loginPage, type LoginPageDeps } from "./login.tsx";
import { notFoundPage } from "./not_found.tsx";
import { staticFiles } from "./static_files.ts";
import type { StorageDeps } from "@/routes/storage/deps.ts";
import { loginForm, logoutForm } from "@/routes/storage/login.ts";
import { VIEWER_PATHS, viewerPage } from "./viewer.tsx";

export interface SiteOptions extends CampaignPageDeps, LoginPageDeps {
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

/** What the browser needs to know, also in a process without pages. */
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
