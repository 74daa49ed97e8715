import assert from "node:assert/strict";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { startApplication } from "@/tests/application.ts";
import { FaultyCluster } from "@/tests/lib/kubernetes/faulty_cluster.ts";
import {
  OTHER_CA,
  OTHER_CERTIFICATE,
  OTHER_KEY,
  SERVER,
  TEST_CA,
  TEST_CERTIFICATE,
  TEST_KEY,
} from "@/tests/lib/http/certificates.ts";
import { kubeconfig } from "@/tests/lib/kubernetes/test_cluster.ts";
import { testCluster } from "@/tests/lib/kubernetes/test_cluster.ts";
import { PartsStore } from "@/tests/routes/parts_store.ts";
import { until } from "@/tests/until.ts";
import { logIn, resultsCookie } from "./gateway_client.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

Deno.test("TLS: the application serves HTTPS with secure cookies, and takes a replaced certificate", async () => {
  const folder = await Deno.makeTempDir();
  const write = async (cert: string, key: string) => {
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    await Deno.writeTextFile(`${folder}/tls.crt`, cert);
  };
  await write(TEST_CERTIFICATE, TEST_KEY);
  using _removal = removeAtEnd(folder);
  await using application = await startApplication({
    env: { TLS_CERT_FILE: `${folder}/tls.crt`, TLS_KEY_FILE: `${folder}/tls.key` },
  });
  const { site } = application;
  assert.match(site, /^https:\/\/127\.0\.0\.1:\d+\/$/);
  using client = Deno.createHttpClient({ caCerts: [TEST_CA] });
  const login = await fetch(`${site}results/_login`, {
    client,
    method: "POST",
    redirect: "manual",
    headers: { Origin: site.slice(0, -1) },
    body: new URLSearchParams({ username: "archive/reader", password: "stackroom-demo" }),
  });
  await login.text();
  assert.equal(login.status, 303);
  const cookie = login.headers.getSetCookie().find((text) => text.startsWith("__Host-results_session="));
  assert.match(cookie ?? "", /; Secure$/);
  const jobs = await fetch(`${site}api/v1/jobs`, { client, headers: { Cookie: cookie?.split(";")[0] ?? "" } });
  assert.equal(jobs.status, 200);
  await jobs.text();
  assert.equal(await (await fetch(`${site}healthz`, { client })).text(), '{"ok":true}');

  await write(OTHER_CERTIFICATE, OTHER_KEY);
  const isReplaced = () => application.output().includes("the certificate was replaced");
  await until("the certificate is replaced", () => isReplaced() || null);
  using renewed = Deno.createHttpClient({ caCerts: [OTHER_CA] });
  assert.equal(await (await fetch(`${site}healthz`, { client: renewed })).text(), '{"ok":true}');
  // It uses its earlier connection: it does not trust the new certificate.
  assert.equal(await (await fetch(`${site}healthz`, { client })).text(), '{"ok":true}');
});

const MIB = 1024 ** 2;
const UPLOAD = "0123456789abcdef".repeat(6 * MIB / 16);
const NO_BUCKETS = "<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>";

/** A store over TLS that lets everybody in. */
function secureStore(store: PartsStore): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, ...SERVER }, async (request) => {
    const { method, url, headers } = request;
    if (method === "HEAD") return new Response(null);
    if (method === "GET") return new Response(NO_BUCKETS);
    const target = url.slice(new URL(url).origin.length);
    return await store.answer(request, { method, target, headers, body: await request.text() });
  });
}

/** The ways in which the certificates of the upstreams are trusted, or not looked at. */
const TRUST = {
  "CA_FILE": { file: "CA_FILE", settings: {}, cluster: {} },
  "the runtime's variable": { file: "NODE_EXTRA_CA_CERTS", settings: {}, cluster: {} },
  "nothing verified": {
    file: null,
    settings: { S3_VERIFY_SSL: "false", RESULTS_S3_VERIFY_TLS: "false" },
    cluster: { "insecure-skip-tls-verify": true },
  },
};

for (const [name, { file, settings, cluster }] of Object.entries(TRUST)) {
  Deno.test(`secure upstreams: a store and a cluster over TLS, trusted by ${name}, take no right to ask the system`, async () => {
    const folder = await Deno.makeTempDir();
    const store = new PartsStore();
    const server = secureStore(store);
    const api = new FaultyCluster({ cert: OTHER_CERTIFICATE, key: OTHER_KEY });
    testCluster(api);
    const endpoint = `https://localhost:${server.addr.port}`;
    await Deno.writeTextFile(`${folder}/authorities.pem`, `${TEST_CA}\n${OTHER_CA}`);
    await Deno.writeTextFile(`${folder}/other.pem`, TEST_CA);
    await Deno.writeTextFile(`${folder}/key`, "A".repeat(43) + "=");
    const members = { cluster: { server: api.url, ...cluster }, user: { token: "t" } };
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig(members));
    try {
      await using application = await startApplication({
        env: {
          EMBEDDED: "off",
          API_SECRET_KEY: "a key of this test, long enough to sign with",
          STORAGE_BACKEND: "minio",
          S3_ENDPOINT_URL: endpoint,
          RESULTS_S3_ENDPOINT: endpoint,
          RESULTS_S3_BUCKET: "results",
          CAMPAIGN_RESULTS_URL: "https://campaigns.example.org/results",
          RESULTS_SESSION_KEY_FILE: `${folder}/key`,
          KUBECONFIG: `${folder}/kubeconfig`,
          // Where it is set, the runtime's own way to these files takes a right.
          NODE_EXTRA_CA_CERTS: `${folder}/other.pem`,
          ...(file && { [file]: `${folder}/authorities.pem` }),
          ...settings,
        },
      });
      await useAll(application.site, store);
    } finally {
      await server.shutdown();
      await api.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

async function useAll(site: string, store: PartsStore): Promise<void> {
  const client = await logIn(site, "key", "secret");
  const uploaded = await fetch(`${client.base}/buckets/b/objects/in%20parts`, {
    method: "PUT",
    headers: { authorization: client.authorization },
    body: new Blob([UPLOAD]).stream(),
  });
  assert.equal(uploaded.status, 200, await uploaded.text());
  assert.equal(store.begun, 1);
  assert.equal(store.objects.get("/b/in%20parts")?.body, UPLOAD);

  const cookie = await resultsCookie(site, "key", "secret");
  const list = await fetch(`${site}api/v1/jobs`, { headers: { cookie } });
  assert.equal(list.status, 200, await list.clone().text());
  const jobs: JobSummary[] = await list.json();
  assert.deepEqual(jobs.map((job) => job.name).sort(), ["lund", "reaped", "visby"]);

  const ready = await fetch(`${site}readyz`);
  assert.equal(ready.status, 200, await ready.text());
}
