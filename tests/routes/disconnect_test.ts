import assert from "node:assert/strict";
import { connect } from "node:net";
import { withGateway } from "./gateway_fixture.ts";
import { rawStore } from "./raw_store.ts";

/** A store that takes what comes and never answers. */
const silentStore = () => rawStore(() => {});

for (const [name, key] of [["fetch", "x"], ["node:http", "a/../x"]]) {
  Deno.test(`disconnect: killed uploads through ${name} cut the upload to the store, and the gateway lives on`, async () => {
    await using store = await silentStore();
    const kills = 12;
    await withGateway({ gateway: { addresses: store.addresses } }, async ({ origin, bearer, call, logged }) => {
      for (let n = 0; n < kills; n++) {
        const arrived = store.next();
        const socket = connect(Number(new URL(origin).port), "127.0.0.1");
        socket.on("error", () => {});
        socket.write(
          `PUT /api/v1/buckets/b/objects/${key} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n` +
            `Content-Length: 10000000\r\n\r\n` + "x".repeat(100_000),
        );
        await arrived;
        socket.destroy();
      }
      await store.closed(kills);
      assert.equal((await call("/healthz")).status, 200);
      const lines = logged();
      assert.equal(lines.length, kills);
      for (const line of lines) {
        assert.equal(line.operation, "put_object");
        assert.equal(line.client_ip, "127.0.0.1");
        assert.deepEqual([line.level, line.status], ["info", 499]);
      }
    });
  });
}

for (const [credentials, proven] of [["were accepted before", true], ["are not proven", false]] as const) {
  Deno.test(`disconnect: a reader whose credentials ${credentials} and who leaves before the answer ends the request to the store`, async () => {
    await using store = await silentStore();
    await withGateway({ proven, gateway: { addresses: store.addresses } }, async ({ call }) => {
      for (const path of ["/api/v1/buckets/b/objects/x", "/api/v1/buckets", "/api/v1/mapi/tenants"]) {
        const arrived = store.next();
        const leaving = new AbortController();
        const request = call(path, { signal: leaving.signal });
        await arrived;
        leaving.abort();
        await assert.rejects(request);
      }
      await store.closed(3);
    });
  });
}
