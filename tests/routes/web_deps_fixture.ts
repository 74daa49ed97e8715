import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { App } from "@/lib/http/app.ts";
import { buildApp } from "@/compose/app.ts";
import type { WebDeps } from "@/routes/web.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { NOTHING, NOW } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { type FakeSource, RESULTS_URL, session } from "@/tests/routes/api/v1/web_fixture.ts";

/** What differs between tests: without a service or a folder there are no results, and no files of the site. */
interface WebOptions {
  readonly service?: WebDeps["service"];
  readonly staticFolder?: string;
  readonly now?: () => number;
}

/** The web role over made-up campaigns that have no progress files. */
export function webDeps(
  source: FakeSource,
  { service = null, staticFolder = "/nonexistent", now = () => NOW }: WebOptions = {},
): WebDeps {
  return {
    service,
    campaigns: {
      source,
      lists: new CampaignLists(source),
      progress: progressReader({ send: NOTHING, base: RESULTS_URL, now, sessionMs: 3_600_000 }),
      tallies: new Tallies(now, 3_600_000),
      namespaces: ["batch-default"],
      session,
      reachable: () => Promise.resolve(true),
    },
    resultsUrl: () => RESULTS_URL,
    cookieStem: "results_session",
    version: "1",
    webVersion: "1",
    site: {
      staticFolder,
      assets: {
        scripts: {
          en: { script: "/build/a.js", preload: [], list: { script: "/build/a-list.js", preload: [] } },
          sv: { script: "/build/a-sv.js", preload: [], list: { script: "/build/a-sv-list.js", preload: [] } },
        },
        stylesheet: "/build/a.css",
        devScript: null,
      },
    },
    log: NO_LOG,
    now,
  };
}

/** An app with the web role alone, over made-up campaigns. */
export function webApp(source: FakeSource): App {
  return buildApp({
    gateway: null,
    results: null,
    resultsStore: null,
    allowedHosts: null,
    log: NO_LOG,
    now: () => NOW,
    web: webDeps(source),
  });
}
