import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { mapiAuthorization } from "@/embedded/tests/store/store_fixture.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { progressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { batchedLog } from "@/lib/http/app.ts";
import { IN_PROCESS_BASE, resultsFetch } from "@/lib/results/results_service.ts";
import { sessionCheck } from "@/lib/results/session_check.ts";
import { buildApp } from "@/compose/app.ts";
import { inProcessResults, resultsRole } from "@/routes/results.ts";
import { live } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import {
  cookieOf,
  filledStore,
  login,
  NAMESPACE,
  resultsDeps,
  serve,
  STEM,
} from "@/tests/routes/results/results_fixture.ts";

const log = batchedLog(() => {});
const PROGRESS = JSON.stringify({ pages_total: 7, pages_done: 7, pages_failed: 0 });
const FILES = { [`${NAMESPACE}/lion-v2/a/progress.json`]: { body: PROGRESS, type: "application/json" } };
const CREDENTIALS = { username: "walter", password: "walter-1" };
const WALTER = { fullName: "W", localAuthentication: true, enabled: true, forcePasswordChange: false };

/** The web and results roles of one process, over a store. */
function site(endpoint: string) {
  const now = Date.now;
  const service = inProcessResults(resultsRole(resultsDeps(endpoint)));
  const source = fakeSource({ campaigns: { [`${NAMESPACE}/lund`]: live() } });
  const sessions = sessionCheck({ service, cookieStem: STEM, now });
  const app = buildApp({
    gateway: null,
    web: {
      service,
      campaigns: {
        source,
        lists: new CampaignLists(source),
        progress: progressReader({ send: resultsFetch(service), base: IN_PROCESS_BASE, now, sessionMs: 3_600_000 }),
        tallies: new Tallies(now, 3_600_000),
        namespaces: [NAMESPACE],
        session: sessions.check,
        forgetSessions: sessions.forget,
        reachable: () => Promise.resolve(true),
      },
      resultsUrl: () => "http://site.example/results",
      cookieStem: STEM,
      version: "1",
      webVersion: "1",
      site: null,
      log,
      now,
    },
    results: null,
    resultsStore: null,
    allowedHosts: null,
    log,
    now,
  });
  return serve((request, info) => app.fetch(request, info));
}

Deno.test("sessions: a user of the same name, with the same password even, sees nothing of the one before", async () => {
  await using store = await filledStore(FILES);
  const manage = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive/userAccounts${path}`, {
      method,
      headers: mapiAuthorization("curator", SAMPLE_PASSWORD),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    assert.equal(response.status, 200, await response.text());
  };
  await using server = site(store.s3("archive"));
  const detail = async (Cookie: string): Promise<JobDetail> => {
    const response = await fetch(`${server.origin}/api/v1/jobs/${NAMESPACE}/lund`, { headers: { Cookie } });
    assert.equal(response.status, 200);
    return await response.json();
  };
  await manage("PUT", "?password=walter-1", { ...WALTER, username: "walter" });
  await manage("POST", "/walter/dataAccessPermissions", {
    namespacePermission: [{ namespaceName: "campaigns", permissions: { permission: ["BROWSE", "READ"] } }],
  });
  const first = await detail(cookieOf(await login(server.origin, CREDENTIALS)));
  assert.deepEqual([first.volumes[0].progress?.done, first.pagesDone, first.volumes[0].forbidden], [7, 7, false]);

  await manage("DELETE", "/walter");
  await manage("PUT", "?password=walter-1", { ...WALTER, username: "walter" });
  const second = await detail(cookieOf(await login(server.origin, CREDENTIALS)));
  assert.deepEqual([second.volumes[0].progress, second.pagesDone, second.volumes[0].forbidden], [null, 0, true]);
});

Deno.test("sessions: a logout holds for the campaigns at once, whatever the web role was told before", async () => {
  await using store = await filledStore(FILES);
  await using server = site(store.s3("archive"));
  const Cookie = cookieOf(await login(server.origin));
  const status = async () => {
    const response = await fetch(`${server.origin}/api/v1/jobs`, { headers: { Cookie } });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await status(), 200);
  const out = await fetch(`${server.origin}/results/_logout`, {
    method: "POST",
    headers: { Cookie: `${STEM}=other; ${Cookie}`, Origin: server.origin },
  });
  assert.equal(out.status, 204);
  assert.equal(await status(), 401);
});
