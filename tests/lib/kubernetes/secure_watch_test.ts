import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer } from "node:https";
import { TLSSocket } from "node:tls";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { watchedCampaigns } from "@/lib/kubernetes/watched_campaigns.ts";
import { conventions } from "@/tests/lib/campaigns/cluster_fixtures.ts";
import { TestApi } from "./api_server.ts";
import { testCluster } from "./test_cluster.ts";
import { AUTHORITY, SERVER } from "./tls_server.ts";

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function withKubeconfig(server: string, user: object, use: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(
      path,
      JSON.stringify({
        clusters: [{ name: "c", cluster: { server, "certificate-authority-data": base64(AUTHORITY) } }],
        users: [{ name: "u", user }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      }),
    );
    await use(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("secure watch: lists and watches go over TLS with the account's token, and end with a cut connection", async () => {
  const api = await TestApi.start(SERVER);
  testCluster(api);
  await withKubeconfig(api.url, { token: "secret-token" }, async (path) => {
    const connection = await clusterConnection({ kind: "kubeconfig", path }, { now: Date.now });
    const namespaces = ["batch-default"];
    const source = watchedCampaigns({ connection, conventions, namespaces, now: Date.now, random: () => 0.5 });
    try {
      await api.until(() => api.watches === 6);
      assert.equal((await source.list()).jobs.length, 2);
      assert.ok(api.asked.every(({ headers }) => headers.get("authorization") === "Bearer secret-token"));
      api.end("reset");
      await api.until(() => api.watches === 6);
      assert.ok(await source.campaign("batch-default", "lund"));
    } finally {
      await source.close();
      await api.kill();
    }
  });
});

Deno.test("secure watch: a kubeconfig's client certificate is shown to the server", async () => {
  const seen: string[] = [];
  const server = createServer(
    { ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: false },
    (request, answer) => {
      const { socket } = request;
      if (socket instanceof TLSSocket) seen.push(String(socket.getPeerCertificate().subject.CN));
      answer.end("{}");
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  const user = { "client-certificate-data": base64(SERVER.cert), "client-key-data": base64(SERVER.key) };
  try {
    await withKubeconfig(`https://127.0.0.1:${address.port}`, user, async (path) => {
      const connection = await clusterConnection({ kind: "kubeconfig", path }, { now: Date.now });
      assert.equal((await connection.send({ method: "GET", path: "/api" })).status, 200);
    });
    assert.deepEqual(seen, ["cluster.test"]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
