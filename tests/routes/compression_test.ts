import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { LUND } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { ANNA, fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { gatewayTest, withGateway } from "./gateway_fixture.ts";
import { webApp } from "./web_deps_fixture.ts";

const GZIP = { "Accept-Encoding": "gzip" };

const codingOf = ({ headers }: Response) => headers.get("Content-Encoding");

Deno.test("compression: pages and the read API are compressed from 1 kB on", async () => {
  const app = webApp(fakeSource({ campaigns: LUND }));
  const html = { ...ANNA, Accept: "text/html" };
  const paths = [["/", html], ["/none", html], ["/api/v1/jobs", ANNA], ["/api/v1/jobs/batch-default/lund", ANNA], [
    "/api/v1/version",
    ANNA,
  ]] as const;
  for (const [path, headers] of paths) {
    const plain = await app.request(path, { headers });
    const response = await app.request(path, { headers: { ...headers, ...GZIP } });
    const whole = await plain.bytes();
    const isLong = whole.length >= 1024;
    assert.equal(codingOf(plain), null);
    assert.equal(codingOf(response), isLong ? "gzip" : null, path);
    assert.match(response.headers.get("Vary") ?? "", /^Accept-Encoding\b/);
    const bytes = await response.bytes();
    assert.equal(response.headers.get("Content-Length"), String(bytes.length));
    assert.deepEqual(isLong ? new Uint8Array(gunzipSync(bytes)) : bytes, whole);
    const head = await app.request(path, { method: "HEAD", headers: { ...headers, ...GZIP } });
    for (const name of ["Content-Encoding", "Content-Length", "Vary"]) {
      assert.equal(head.headers.get(name), response.headers.get(name), `${path} ${name}`);
    }
  }
});

gatewayTest(
  "compression: no response of the gateway that holds a secret or an object is compressed",
  async ({ app, answer, bearer }) => {
    const stored = JSON.stringify({ text: "x".repeat(5000) });
    answer(() => new Response(stored, { headers: { "Content-Type": "application/json", ETag: '"1"' } }));
    const long = "k".repeat(900);
    const ask = (path: string, init: RequestInit = {}) =>
      app.request(`http://h${path}`, { ...init, headers: { ...bearer, ...GZIP, ...init.headers } });
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const json = { "Content-Type": "application/json" };
    const responses = [
      await ask("/api/v1/auth/token", {
        method: "POST",
        headers: form,
        body: `username=${long.slice(0, 200)}&password=${long.slice(0, 200)}`,
      }),
      await ask("/api/v1/credentials"),
      await ask("/api/v1/presign", {
        method: "POST",
        headers: json,
        body: JSON.stringify({ bucket: "b", key: long }),
      }),
      await ask("/api/v1/buckets/b/objects/presign", {
        method: "POST",
        headers: json,
        body: JSON.stringify({ keys: [long, `${long}2`] }),
      }),
      await ask("/api/v1/buckets/b/multipart/k/presign", {
        method: "POST",
        headers: json,
        body: JSON.stringify({ upload_id: "u", file_size: 20_000_000, part_size: 5_242_880 }),
      }),
      await ask("/api/v1/buckets/b/objects/k"),
    ];
    for (const [at, response] of responses.entries()) {
      assert.equal(response.status, 200, String(at));
      assert.equal(codingOf(response), null, String(at));
      assert.doesNotMatch(response.headers.get("Vary") ?? "", /Accept-Encoding/i);
      await response.body?.cancel();
    }
  },
);

Deno.test("compression: a long listing of the gateway is compressed beside its CORS headers", () =>
  withGateway({ gateway: { corsOrigins: ["https://a.example"] } }, async ({ app, answer, bearer }) => {
    const buckets = Array.from(
      { length: 60 },
      (_, at) => `<Bucket><Name>bucket-${at}</Name><CreationDate>2024-01-01T00:00:00.000Z</CreationDate></Bucket>`,
    );
    answer(() =>
      new Response(
        `<ListAllMyBucketsResult><Owner><ID>o</ID></Owner><Buckets>${
          buckets.join("")
        }</Buckets></ListAllMyBucketsResult>`,
      )
    );
    const response = await app.request("http://h/api/v1/buckets", {
      headers: { ...bearer, ...GZIP, Origin: "https://a.example" },
    });
    assert.equal(codingOf(response), "gzip");
    assert.deepEqual(response.headers.get("Vary")?.split(", ").sort(), ["Accept-Encoding", "Origin"]);
    const list = JSON.parse(new TextDecoder().decode(gunzipSync(await response.bytes())));
    assert.equal(list.buckets.length, 60);
  }));
