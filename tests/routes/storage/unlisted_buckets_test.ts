import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";

import { upstreamClient, type UpstreamRequest } from "@/lib/http/upstream.ts";
import { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";
import { webDeps } from "@/tests/routes/web_deps_fixture.ts";

const CLOSED_MAPI = { send: () => Promise.resolve(new Response(null, { status: 403 })) };

/**
 * Runs a test with the pages over an embedded store whose list of buckets is closed to every account, and whose management
 * API is closed to all that are not administrators, as that of an HCP is.
 */
async function withUnlistedBuckets(test: (browser: StorageBrowser) => Promise<void>): Promise<void> {
  await using store = await startStore();
  const level = (tenant: string | null) => {
    const address = store.server.address(tenant) ?? store.server.address(null);
    assert.ok(address);
    return address;
  };
  const client = upstreamClient({ verifyTls: true, timeoutMs: 60_000 });
  const s3 = {
    send: (request: UpstreamRequest) =>
      request.method === "GET" && /^\/(?:\?|$)/.test(request.target)
        ? Promise.resolve(s3Error(403, "AccessDenied", "Access denied"))
        : client.send(request),
  };
  const addresses = {
    s3(tenant: string | null) {
      const { s3 } = level(tenant);
      return Promise.resolve({ endpoint: s3, publicEndpoint: s3 });
    },
    mapi: (tenant: string | null) => Promise.resolve(level(tenant).mapi),
  };
  const secrets = [createSecretKey(randomBytes(32))];
  const web = {
    ...webDeps(fakeSource({}), { now: Date.now }),
    campaigns: null,
    storage: {
      gateway: null,
      secrets: () => secrets,
      revoked: new RevokedSessions(null, NO_LOG, Date.now),
      sessionHours: 12,
      campaignTenant: null,
    },
  };
  await withGateway(
    { gateway: { addresses, upstreams: { s3, mapi: CLOSED_MAPI } }, app: { web, now: Date.now } },
    ({ origin }) => test(new StorageBrowser(`${origin}/`)),
  );
}

Deno.test("storage login: an account that may neither list buckets nor use the management API logs in, and opens a bucket by its name", () =>
  withUnlistedBuckets(async (browser) => {
    assert.equal(await browser.logIn("archive/reader", "wrong"), "/login?error=401");
    assert.equal(await browser.logIn("nobody/reader"), "/login?error=401");
    assert.equal(await browser.logIn("archive/reader"), "/storage?account=archive%2Freader");
    const { status, html } = await browser.page("/storage");
    assert.equal(status, 200);
    assert.match(html, /This account may not list buckets\. To open a bucket that is not listed, type its name\./);
    assert.match(
      html,
      /<form class="bucket-field" action="\/storage\/folder"><input type="hidden" name="account" value="archive\/reader"\/?>/,
    );
    const folder = await browser.page("/storage/folder?account=archive%2Freader&bucket=campaigns");
    assert.equal(folder.status, 200);
    assert.equal((await browser.page("/storage/folder?account=archive%2Freader&bucket=none")).status, 404);
  }));
