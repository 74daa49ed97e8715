import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { mapiAuthorization } from "@/tests/embedded/store/store_fixture.ts";
import { type EmbeddedGateway, leaks, withEmbeddedGateway } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";
import { s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

/** Logs in and gives what asks for a new bucket: its status and what it says. */
async function maker({ app }: EmbeddedGateway, username: string) {
  const form = new URLSearchParams({ username: `archive/${username}`, password: SAMPLE_PASSWORD });
  const login = await app.request("/api/v1/auth/token", { method: "POST", body: form });
  const headers = { Authorization: `Bearer ${(await login.json()).access_token}` };
  return async (bucket: string): Promise<string> => {
    const response = await app.request("/api/v1/buckets", {
      method: "POST",
      headers,
      body: JSON.stringify({ bucket }),
    });
    return `${response.status} ${(await response.json()).detail ?? ""}`;
  };
}

/** The system level says it to the store itself: the gateway's document of a tenant's changes has no such member. */
async function setQuota({ store }: EmbeddedGateway, namespaceQuota: string): Promise<void> {
  const response = await fetch(`${store.mapi(null)}/mapi/tenants/archive`, {
    method: "POST",
    headers: mapiAuthorization("admin"),
    body: JSON.stringify({ namespaceQuota }),
  });
  assert.equal(response.status, 200, await response.text());
}

Deno.test("buckets: one more than the user may own is 400 and names the limit", leaks, async () => {
  await withEmbeddedGateway(async (fixture) => {
    const curator = fixture.as("archive", "curator");
    const create = await maker(fixture, "curator");
    const { status, text } = await curator("POST", "/tenants/archive", { maxNamespacesPerUser: 0 });
    assert.equal(status, 200, text);
    assert.match(await create("one-more"), /^400 bucket 'one-more': .*maxNamespacesPerUser/);
    assert.equal((await curator("POST", "/tenants/archive", { maxNamespacesPerUser: 100 })).status, 200);
    assert.match(await create("one-more"), /^201/);
  }, Date.now);
});

Deno.test(
  "buckets: one more than the tenant may have is 400 and names the quota",
  leaks,
  async () => {
    await withEmbeddedGateway(async (fixture) => {
      const create = await maker(fixture, "curator");
      const curator = fixture.as("archive", "curator");
      await setQuota(fixture, "1");
      assert.match(await create("one-more"), /^400 bucket 'one-more': .*namespaceQuota/);
      const made = await curator("PUT", "/tenants/archive/namespaces", { name: "one-more" });
      assert.match(`${made.status} ${made.text}`, /^400 .*namespaceQuota/);
    }, Date.now);
  },
);

Deno.test("buckets: a store's own word for too many of them is 400, under whatever status it says it", async () => {
  await withGateway({}, async ({ call, answer }) => {
    for (const status of [400, 409, 500]) {
      answer(() => s3Error(status, "TooManyBuckets", "You have attempted to create more buckets than allowed"));
      const response = await call("/api/v1/buckets", { method: "POST", body: '{"bucket":"notes"}' });
      assert.equal(response.status, 400);
      assert.deepEqual(await response.json(), {
        detail: "bucket 'notes': You have attempted to create more buckets than allowed",
      });
    }
  });
});
