import assert from "node:assert/strict";
import { s3Error, withGateway } from "./gateway_fixture.ts";
import { rawExchange, rawStore } from "./raw_store.ts";

const O = "/api/v1/buckets/b/objects/";
const FINAL = /HTTP\/1\.1 [2-5]\d\d [^]*\r\n\r\n/;

/** Sends the head of an upload that waits for the server's go-ahead, and never its body. */
function headOnly(origin: string, path: string, lines: readonly string[], method = "PUT"): Promise<string> {
  const head = [`${method} ${path} HTTP/1.1`, "Host: x", "Expect: 100-continue", ...lines];
  return rawExchange(origin, head.join("\r\n") + "\r\n\r\n", FINAL);
}

Deno.test("refused upload: what the gateway knows by itself is answered before a byte of the body", async () => {
  await withGateway({ gateway: { maxTenantRequests: 0 } }, async ({ origin, bearer, seen }) => {
    const authorization = `Authorization: ${bearer.Authorization}`;
    const cases: [string, string[], number, string?][] = [
      [`${O}k`, ["Content-Length: 1000000"], 401],
      [`${O}k`, ["Content-Length: 1000000", "Authorization: Bearer x"], 401],
      [`${O}k`, ["Transfer-Encoding: chunked"], 401],
      [`${O}k`, ["Content-Length: 1000000", authorization], 503],
      ["/api/v1/nothing", ["Content-Length: 1000000"], 404],
      ["/api/v1/buckets", ["Content-Length: 1000000"], 405],
      [`${O}k`, ["Content-Length: 1000000"], 401, "POST"],
    ];
    for (const [path, lines, status, method] of cases) {
      assert.match(
        await headOnly(origin, path, lines, method),
        new RegExp(`HTTP/1\\.1 ${status} `),
        `${path} ${lines}`,
      );
    }
    assert.equal(seen.length, 0);
  });
  await withGateway({}, async ({ origin, bearer, seen }) => {
    const authorization = `Authorization: ${bearer.Authorization}`;
    const cases: [string, string[], number][] = [
      [`${O}k`, [`Content-Length: ${5 * 1024 ** 4 + 1}`, authorization], 413],
      [`${O}k`, ["Content-Length: 9", "Content-Language: \u00e9", authorization], 400],
      [`${O}%ff`, ["Content-Length: 9", authorization], 400],
      ["/api/v1/buckets", [`Content-Length: ${2 * 1024 ** 2}`, authorization], 405],
    ];
    for (const [path, lines, status] of cases) {
      assert.match(await headOnly(origin, path, lines), new RegExp(`HTTP/1\\.1 ${status} `), `${path} ${lines}`);
    }
    assert.match(
      await headOnly(origin, "/api/v1/buckets", [`Content-Length: ${2 * 1024 ** 2}`, authorization], "POST"),
      /HTTP\/1\.1 413 /,
    );
    assert.equal(seen.length, 0);
  });
});

Deno.test("refused upload: what the store refuses by the head is answered without the body, by either way", async () => {
  for (const [status, code] of [[403, "AccessDenied"], [404, "NoSuchBucket"], [401, "InvalidAccessKeyId"]] as const) {
    const refusal = s3Error(status, code, "no");
    const body = await refusal.text();
    await using store = await rawStore((socket) =>
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    );
    await withGateway({ gateway: { addresses: store.addresses } }, async ({ origin, bearer }) => {
      const lines = ["Content-Length: 1000000", `Authorization: ${bearer.Authorization}`];
      for (const key of ["k", "a/../k"]) {
        assert.match(await headOnly(origin, O + key, lines), new RegExp(`HTTP/1\\.1 ${status} `), key);
      }
      const beyond = [`Content-Length: ${6 * 1024 ** 3}`, `Authorization: ${bearer.Authorization}`];
      assert.match(await headOnly(origin, `${O}big`, beyond), new RegExp(`HTTP/1\\.1 ${status} `), "in parts");
    });
  }
});
