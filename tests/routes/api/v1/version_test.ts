import assert from "node:assert/strict";
import { siteOnlyOperations, unknownApiPath, versionOperations, webOperations } from "@/routes/api/v1/jobs.ts";
import { ANNA, OUTAGE, session, webApp } from "./web_fixture.ts";

const VERSIONS = { version: "v1.4.2", web: "0.9.0" };

Deno.test("version: a logged-in caller gets both versions", async () => {
  const app = webApp(versionOperations(webOperations(session), VERSIONS));
  const answer = await app.request("/api/v1/version", { headers: ANNA });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "private, no-store");
  assert.deepEqual(await answer.json(), VERSIONS);
  const head = await app.request("/api/v1/version", { method: "HEAD", headers: ANNA });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
  assert.equal((await app.request("/api/v1/version")).status, 401);
  const post = await app.request("/api/v1/version", { method: "POST", headers: ANNA });
  assert.deepEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
});

Deno.test("version: 503 on a site without a cluster, with and without a cookie", async () => {
  const app = webApp(versionOperations(siteOnlyOperations(), VERSIONS));
  for (const headers of [{}, ANNA]) {
    const answer = await app.request("/api/v1/version", { headers });
    assert.equal(answer.status, 503);
    assert.match((await answer.json()).detail, /CAMPAIGN_WEB_SITE_ONLY/);
  }
});

Deno.test("unknown paths under /api/v1: 401 without a session, 404 with one", async () => {
  const app = webApp([], { "/api/v1/*": unknownApiPath(session) });
  for (const [headers, status] of [[{}, 401], [OUTAGE, 502], [ANNA, 404]] as const) {
    const answer = await app.request("/api/v1/nothing", { headers });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("cache-control"), "private, no-store");
  }
});
