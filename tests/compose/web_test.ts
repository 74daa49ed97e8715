import assert from "node:assert/strict";
import { webRole } from "@/compose/web.ts";
import { diskFiles, readConfig } from "@/lib/config/mod.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

/** The base of result URLs that a web role with these settings finds for a request. */
async function resultsUrlOf(settings: Record<string, string>): Promise<string> {
  const config = readConfig({ ROLES: "web", CAMPAIGN_WEB_STATIC: "/absent", ...settings }, diskFiles);
  assert.ok(config.web);
  const { deps, close } = await webRole(config, config.web, {
    results: null,
    cluster: { url: "http://127.0.0.1:1", kubeconfig: "", stop: () => Promise.resolve() },
    hasStore: false,
    folder: null,
    revoked: null,
    shared: null,
    devAssets: null,
    log: NO_LOG,
    observe: () => ({}),
  });
  try {
    return deps.resultsUrl(new Request("http://127.0.0.1:8000/api/v1/jobs?reaped=1"));
  } finally {
    await close();
  }
}

Deno.test("web role: the results URL is the configured one, that of the request's own origin, or none", async () => {
  const proxy = { CAMPAIGN_RESULTS_PROXY: "http://127.0.0.1:1/results" };
  assert.equal(
    await resultsUrlOf({ ...proxy, CAMPAIGN_RESULTS_URL: "https://a.example/results/" }),
    "https://a.example/results",
  );
  assert.equal(await resultsUrlOf(proxy), "http://127.0.0.1:8000/results");
  assert.equal(await resultsUrlOf({ CAMPAIGN_WEB_SITE_ONLY: "1" }), "");
});
