import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { withGateway } from "./gateway_fixture.ts";
import { listenAsStore } from "./raw_store.ts";

/** A store that takes what comes and never answers; it tells when its clients are gone. */
async function silentStore() {
  const sockets = new Set<Socket>();
  const opened = new Set<() => void>();
  const gone = Promise.withResolvers<void>();
  let closed = 0;
  let expected = Infinity;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("data", () => opened.forEach((tell) => tell()));
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      if (++closed >= expected) gone.resolve();
    });
  });
  const addresses = await listenAsStore(server);
  return {
    addresses,
    received: () => new Promise<void>((resolve) => opened.add(resolve)),
    allGone(count: number) {
      expected = count;
      if (closed >= expected) gone.resolve();
      return gone.promise;
    },
    async end() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

for (const [name, key] of [["fetch", "x"], ["node:http", "a/../x"]]) {
  Deno.test(`disconnect: killed uploads through ${name} cut the upload to the store, and the gateway lives on`, async () => {
    const store = await silentStore();
    const kills = 12;
    await withGateway({ gateway: { addresses: store.addresses } }, async ({ origin, bearer, call, logged }) => {
      for (let n = 0; n < kills; n++) {
        const arrived = store.received();
        const socket = connect(Number(new URL(origin).port), "127.0.0.1");
        socket.on("error", () => {});
        socket.write(
          `PUT /api/v1/buckets/b/objects/${key} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n` +
            `Content-Length: 10000000\r\n\r\n` + "x".repeat(100_000),
        );
        await arrived;
        socket.destroy();
      }
      await store.allGone(kills);
      assert.equal((await call("/healthz")).status, 200);
      const lines = logged();
      assert.equal(lines.length, kills);
      for (const line of lines) {
        assert.equal(line.operation, "put_object");
        assert.equal(line.client_ip, "127.0.0.1");
        assert.deepEqual([line.level, line.status], ["info", 499]);
      }
    });
    await store.end();
  });
}

for (const [credentials, proven] of [["were accepted before", true], ["are not proven", false]] as const) {
  Deno.test(`disconnect: a reader whose credentials ${credentials} and who leaves before the answer ends the request to the store`, async () => {
    const store = await silentStore();
    await withGateway({ proven, gateway: { addresses: store.addresses } }, async ({ call }) => {
      for (const path of ["/api/v1/buckets/b/objects/x", "/api/v1/buckets", "/api/v1/mapi/tenants"]) {
        const arrived = store.received();
        const leaving = new AbortController();
        const request = call(path, { signal: leaving.signal });
        await arrived;
        leaving.abort();
        await assert.rejects(request);
      }
      await store.allGone(3);
    });
    await store.end();
  });
}
