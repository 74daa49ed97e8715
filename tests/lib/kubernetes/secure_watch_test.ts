import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { FaultyCluster } from "./faulty_cluster.ts";
import { SERVER, TEST_CA } from "@/tests/lib/http/certificates.ts";
import { kubeconfig, withFile } from "./test_cluster.ts";

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

const NAMED = { "certificate-authority-data": base64(TEST_CA) };

Deno.test("secure watch: a kubeconfig's client certificate is sent to the server, wherever its authority is named", async () => {
  const seen: string[] = [];
  const server = createServer(
    { ...SERVER, ca: TEST_CA, requestCert: true, rejectUnauthorized: false },
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
    for (const [named, caCerts] of [[NAMED, undefined], [{}, [TEST_CA]]] as const) {
      await withFile(
        kubeconfig({ cluster: { server: `https://127.0.0.1:${address.port}`, ...named }, user: user }),
        async (path) => {
          const connection = await clusterConnection({ path }, { now: Date.now, caCerts });
          assert.equal((await connection.send({ method: "GET", path: "/api" })).status, 200);
        },
      );
    }
    assert.deepEqual(seen, ["localhost", "localhost"]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A proxy that opens the requested tunnels, over TLS or not, and counts them. */
async function withProxy(isSecure: boolean, use: (url: string, tunnels: () => number) => Promise<void>): Promise<void> {
  const sockets = new Set<Duplex>();
  const proxy = isSecure ? createServer(SERVER) : createPlainServer();
  let tunnels = 0;
  proxy.on("connect", (request, client: Duplex) => {
    tunnels++;
    const [hostname, port] = String(request.url).split(":");
    const onward = connect(Number(port), hostname, () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(onward).pipe(client);
    });
    for (const socket of [client, onward]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  assert.ok(typeof address === "object" && address);
  try {
    await use(`http${isSecure ? "s" : ""}://localhost:${address.port}`, () => tunnels);
  } finally {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  }
}

Deno.test("secure watch: a proxy of the kubeconfig is gone through, over TLS with the same authorities", async () => {
  await using api = new FaultyCluster(SERVER);
  for (const isSecure of [false, true]) {
    await withProxy(isSecure, async (url, tunnels) => {
      for (const named of [NAMED, {}]) {
        await withFile(
          kubeconfig({ cluster: { server: api.url, "proxy-url": url, ...named }, user: { token: "t" } }),
          async (path) => {
            const options = { now: Date.now, caCerts: [TEST_CA] };
            const connection = await clusterConnection({ path }, options);
            assert.equal((await connection.send({ method: "GET", path: "/version" })).status, 200);
          },
        );
      }
      assert.equal(tunnels(), 2);
    });
  }
});
