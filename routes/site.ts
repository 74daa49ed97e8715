import type { Hono } from "hono";

import type { HttpContext, HttpEnv } from "@/lib/http/env.ts";
import { methodNotAllowed } from "@/lib/http/errors.ts";
import { BUILD_PATH, buildFolder } from "@/lib/ui/build.ts";
import { DEV_RELOAD_PATH, devReload } from "@/lib/ui/dev_reload.ts";
import { configJs } from "./config_js.ts";
import { campaignPage, type CampaignPageDeps } from "./index.tsx";
import { logPage } from "./log.tsx";
import { loginPage } from "./login.tsx";
import { notFoundPage } from "./not_found.tsx";
import { staticFiles } from "./static_files.ts";

export interface SiteOptions extends CampaignPageDeps {
  /** Folder of further files of the site. */
  readonly staticFolder: string;
}

/** The pages and what they load. All of it is open: a page shows data only to whoever is logged in. */
export function mountSite(app: Hono<HttpEnv>, options: SiteOptions): void {
  page(app, "/", "campaigns_page", campaignPage(options));
  page(app, "/login", "login_page", loginPage(options));
  page(app, "/log", "log_page", logPage(options));
  if (options.assets.devScript !== null) page(app, DEV_RELOAD_PATH, "dev_reload", devReload());
  const { resultsUrl } = options;
  app.all(`${BUILD_PATH}*`, staticFiles({ folder: buildFolder(), prefix: BUILD_PATH, hashed: true, resultsUrl }));
}

/** What the browser needs to know, also in a process without pages. */
export function mountConfigJs(app: Hono<HttpEnv>, resultsUrl: (request: Request) => string): void {
  page(app, "/config.js", "config_js", configJs(resultsUrl));
}

/** The site's other files: the last of all routes, since every other one wins over a file of its name. */
export function mountStaticFiles(app: Hono<HttpEnv>, options: SiteOptions): void {
  const { staticFolder: folder, resultsUrl } = options;
  app.all("*", staticFiles({ folder, prefix: "/", resultsUrl, missing: notFoundPage(options) }));
}

type Answer = (c: HttpContext) => Response | Promise<Response>;

function page(app: Hono<HttpEnv>, path: string, operation: string, answer: Answer): void {
  app.all(path, async (c) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") throw methodNotAllowed(["GET", "HEAD"]);
    c.set("operation", operation);
    return await answer(c);
  });
}
