import assert from "node:assert/strict";
import fc from "fast-check";
import { connect } from "node:net";
import { gatewayTest, withGateway } from "./gateway_fixture.ts";
import { rawExchange, rawStore } from "./raw_store.ts";

const O = "/api/v1/buckets/b/objects/";

gatewayTest(
  "download: a name to save under is sent where it is asked for, whatever the store says",
  async ({ call, answer }) => {
    answer(() => new Response("x", { headers: { "Content-Disposition": "inline; filename=stored" } }));
    const shown = async (key: string, query: string, method = "GET") => {
      const response = await call(`${O}${key}${query}`, { method });
      await response.body?.cancel();
      return response.headers.get("content-disposition");
    };
    assert.equal(await shown("dir/a.txt", ""), "inline; filename=stored");
    assert.equal(await shown("dir/a.txt", "?disposition=attachment"), 'attachment; filename="a.txt"');
    assert.equal(await shown("dir/a.txt", "?disposition=attachment", "HEAD"), 'attachment; filename="a.txt"');
    assert.equal(await shown("dir/a.txt", "?filename=b.txt"), 'attachment; filename="b.txt"');
    assert.equal(
      await shown("x", "?disposition=inline&filename=b%22.txt"),
      "inline; filename=\"b_.txt\"; filename*=UTF-8''b%22.txt",
    );
    assert.equal(
      await shown("%C3%85r%2F%C3%A5%20%2B1.tif", "?disposition=attachment"),
      "attachment; filename=\"_ +1.tif\"; filename*=UTF-8''%C3%A5%20%2B1.tif",
    );
    assert.equal(await shown("d/", "?disposition=attachment"), 'attachment; filename="d"');
    const bad = await call(`${O}x?disposition=script`);
    assert.equal(bad.status, 422);
    assert.deepEqual((await bad.json()).detail[0].loc, ["query", "disposition"]);
  },
);

gatewayTest(
  "download: checksums are asked for and shown, and what else the store says of an object",
  async ({ call, answer, seen }) => {
    const said = {
      "x-amz-checksum-crc32c": "AAAAAA==",
      "x-amz-checksum-type": "FULL_OBJECT",
      "x-amz-tagging-count": "3",
      "x-amz-version-id": "7",
      "x-amz-meta-a": "b",
    };
    answer(() => new Response("x", { headers: { ...said, "x-amz-request-id": "internal", Server: "store" } }));
    for (const method of ["GET", "HEAD"]) {
      const response = await call(`${O}x`, { method, headers: { "x-amz-checksum-mode": "ENABLED" } });
      await response.body?.cancel();
      for (const [name, value] of Object.entries(said)) assert.equal(response.headers.get(name), value, name);
      assert.equal(response.headers.get("x-amz-request-id"), null);
      assert.equal(response.headers.get("server"), null);
      assert.equal(seen.at(-1)?.headers.get("x-amz-checksum-mode"), "ENABLED");
    }
    await (await call(`${O}x`)).body?.cancel();
    assert.equal(seen.at(-1)?.headers.get("x-amz-checksum-mode"), null);
  },
);

gatewayTest(
  "download: text stays as it is stored, whatever codings the client takes",
  async ({ origin, bearer, answer, seen }) => {
    const text = "the same line again and again\n".repeat(1000);
    answer(() => new Response(text, { headers: { "Content-Type": "text/plain" } }));
    const head = `GET ${O}x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept-Encoding: gzip, br, zstd\r\n` +
      `Authorization: ${bearer.Authorization}\r\n\r\n`;
    const answered = await rawExchange(origin, head, /$^/);
    assert.match(answered, new RegExp(`\r\ncontent-length: ${text.length}\r\n`, "i"));
    assert.doesNotMatch(answered, /\r\ncontent-encoding:/i);
    assert.ok(answered.endsWith(text));
    assert.equal(seen[0].headers.get("accept-encoding"), "identity");
  },
);

gatewayTest(
  "download: any Range header goes to the store as it is, and a store's refusal names the size",
  async ({ call, answer, seen }) => {
    const spec = fc.oneof(
      fc.tuple(fc.nat(), fc.nat()).map(([first, last]) => `bytes=${first}-${last}`),
      fc.nat().map((first) => `bytes=${first}-`),
      fc.nat().map((count) => `bytes=-${count}`),
      fc.stringMatching(/^[\x21-\x7e]{1,30}$/),
    );
    answer(() =>
      new Response("<Error><Code>InvalidRange</Code><Message>no</Message></Error>", {
        status: 416,
        headers: { "Content-Range": "bytes */5" },
      })
    );
    await fc.assert(
      fc.asyncProperty(spec, async (range) => {
        const response = await call(`${O}x`, { headers: { Range: range } });
        assert.equal(response.status, 416);
        assert.equal(response.headers.get("content-range"), "bytes */5");
        await response.body?.cancel();
        assert.equal(seen.at(-1)?.headers.get("range"), range);
      }),
      { numRuns: 60 },
    );
  },
);

for (const [way, key] of [["fetch", "x"], ["node:http", "a/../x"]]) {
  Deno.test(`download through ${way}: a slow reader holds the store back, and one who leaves closes its connection`, async () => {
    let sent = 0;
    const piece = new Uint8Array(256 * 1024);
    await using store = await rawStore((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${10 ** 12}\r\n\r\n`);
      const more = () => {
        while (!socket.destroyed) {
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once("drain", more);
        }
      };
      more();
    });
    await withGateway({ gateway: { addresses: store.addresses } }, async ({ origin, bearer, call }) => {
      const readers = Array.from({ length: 8 }, () => {
        const socket = connect(Number(new URL(origin).port), "127.0.0.1");
        socket.on("error", () => {});
        socket.write(`GET ${O}${key} HTTP/1.1\r\nHost: x\r\nAuthorization: ${bearer.Authorization}\r\n\r\n`);
        return new Promise<typeof socket>((resolve) =>
          socket.once("data", () => {
            socket.pause();
            resolve(socket);
          })
        );
      });
      const sockets = await Promise.all(readers);
      for (const socket of sockets) socket.destroy();
      await store.closed(sockets.length);
      assert.ok(sent < 8 * 64 * 1024 * 1024, `${sent} bytes were taken for readers that do not read`);
      assert.equal((await call("/healthz")).status, 200);
    });
  });
}
