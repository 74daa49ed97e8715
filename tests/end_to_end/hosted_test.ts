import { PutObjectCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import { sampleOptions } from "@/embedded/tests/cluster/sample_cluster.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { siteAssets } from "@/lib/site/build.ts";
import { RedisClient } from "@/lib/state/redis_client.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { requestsOf } from "@/tests/routes/api/v1/mapi/schema_samples.ts";
import { logIn, resultsCookie } from "./gateway_client.ts";
import { refusedByRuntime, startHostedProcess } from "./hosted_application.ts";
import { StorageBrowser } from "./storage_browser.ts";

const PASSWORD = "stackroom-demo";
const POLL_MS = 20;
const TIMEOUT_MS = 60_000;

Deno.test("hosted: with the network and its own tree to read alone, the application does all that needs no disk", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  await using redis = await RedisServer.start();
  await using store = await startStore();
  const cluster = await startEmbeddedCluster(sampleOptions({ now: Date.now(), conventions: CONVENTIONS.stackroom }));
  await using _stop = { [Symbol.asyncDispose]: () => cluster.close() };
  // As a host does before.
  await siteAssets();
  await using hosted = await startHostedProcess({
    TRUSTED_HOPS: "0",
    API_SECRET_KEY: "a key of this test, long enough to sign with",
    HCP_HOST: "127.0.0.1",
    S3_ENDPOINT_URL: store.s3("archive"),
    RESULTS_S3_ENDPOINT: store.s3("archive"),
    RESULTS_S3_BUCKET: "campaigns",
    RESULTS_TENANT: "archive",
    RESULTS_SESSION_KEY: `${randomBytes(32).toString("base64")} ${randomBytes(32).toString("base64")}`,
    CAMPAIGN_RESULTS_URL: "https://stackroom.example.org/results",
    CAMPAIGN_NAMESPACES: "batch-default",
    KUBECONFIG_CONTENT: cluster.kubeconfig(),
    REDIS_URL: redis.url,
  });
  const { site } = hosted;
  assert.notEqual(site, "", hosted.output());

  const curator = await logIn(site, "archive/curator");
  await curator.json("POST", "/buckets", { bucket: "hosted" });
  const text = "Åbo, 3 maj\n";
  const put = await curator.call("PUT", `/buckets/hosted/objects/${encodeURIComponent("å/1")}`, text);
  assert.equal(put.status, 200, await put.text());
  const got = await curator.call("GET", `/buckets/hosted/objects/${encodeURIComponent("å/1")}`);
  assert.equal(await got.text(), text);
  const { objects } = await curator.json("GET", "/buckets/hosted/objects");
  assert.deepEqual((objects as { Key: string }[]).map(({ Key }) => Key), ["å/1"]);
  const { url } = await curator.json("POST", "/presign", { bucket: "hosted", key: "å/1" });
  assert.equal(await (await fetch(String(url))).text(), text);

  const { task_id } = await curator.json("POST", "/buckets/hosted/objects/s3_stats");
  for (const end = Date.now() + TIMEOUT_MS;;) {
    const { status, files } = await curator.json("GET", `/buckets/hosted/objects/s3_stats/${task_id}`);
    if (status === "ready") {
      assert.equal(files, 1);
      break;
    }
    assert.ok(Date.now() < end, `the count is ${status}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const client = new RedisClient({ url: redis.url, warn: () => {} });
  const keys = await client.command("KEYS", "stackroom:*");
  await client.close();
  assert.ok(Array.isArray(keys) && keys.length > 0, "tasks are in Redis");

  const s3 = store.client("archive", "curator");
  await s3.send(new PutObjectCommand({ Bucket: "campaigns", Key: "batch-default/p/v/notes.txt", Body: text }));
  s3.destroy();
  const headers = { Cookie: await resultsCookie(site, "reader", PASSWORD) };
  const jobs = await fetch(`${site}api/v1/jobs`, { headers });
  assert.ok((await jobs.json()).length > 0);
  assert.equal(await (await fetch(`${site}results/batch-default/p/v/notes.txt`, { headers })).text(), text);
  const page = await (await fetch(site, { headers })).text();
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "none";
  const { status, body } = await fetch(new URL(script, site));
  await body?.cancel();
  assert.equal(status, 200, script);

  const browser = new StorageBrowser(site.replace(/\/$/, ""));
  assert.match(await browser.logIn("archive/curator"), /^\/storage|^\/$/);
  assert.match((await browser.page("/storage")).html, /<bdi>hosted<\/bdi>/);
  const requests = requestsOf(await (await fetch(`${site}openapi.json`)).json());
  for (const { id, path, method, body } of requests) {
    const response = await fetch(new URL(path, site), {
      method,
      headers: { authorization: curator.authorization },
      body,
    });
    await response.body?.cancel();
    assert.notEqual(response.status, 500, id);
  }
  assert.deepEqual(refusedByRuntime(hosted), []);
});

Deno.test("hosted: what needs a disk, and a setting that is missing, end it with a line", async () => {
  await using embedded = await startHostedProcess({ EMBEDDED: "on" });
  assert.equal(await embedded.ended, 1);
  assert.equal(
    embedded.output(),
    "EMBEDDED: must be off where a host runs the process, which has no data folder\n",
  );
  await using traced = await startHostedProcess({ ROLES: "web", CAMPAIGN_WEB_SITE_ONLY: "1", OTEL_DENO: "true" });
  assert.equal(await traced.ended, 1);
  assert.match(traced.output(), /^OTEL_DENO_TRACING: must be false where OTEL_DENO is true: [^\n]+\n$/);
  await using missing = await startHostedProcess({ ROLES: "gateway" });
  assert.equal(await missing.ended, 1);
  assert.match(missing.output(), /^API_SECRET_KEY: is required[^\n]+\nHCP_DOMAIN: is required[^\n]+\n$/);
});
