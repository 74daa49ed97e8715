import assert from "node:assert/strict";
import type { Handler, HandlerInfo } from "@/lib/process/serve_connection.ts";
import { shedLoad } from "@/lib/process/shed_load.ts";
import type { LoadShedder } from "@/lib/std/load_shedder.ts";

const INFO = { remoteAddr: { hostname: "192.0.2.7", port: 1, transport: "tcp" } } as unknown as HandlerInfo;
const handler: Handler = ({ url }) => new Response(`handled ${new URL(url).pathname}`);

/** A shedder that refuses everything, and the addresses that it was told. */
function refusing(trustedHops = 0): { readonly shed: Handler; readonly addresses: string[] } {
  const addresses: string[] = [];
  const shedder = {
    enter(_isRead: boolean, address: () => string) {
      addresses.push(address());
      return null;
    },
  } as unknown as LoadShedder;
  return { shed: shedLoad(handler, { shedder, always: new Set(["/healthz"]), trustedHops }), addresses };
}

Deno.test("shed load: a refused request is 503 with Retry-After, its id and the headers of every response", async () => {
  const { shed, addresses } = refusing();
  const headers = { "X-Request-ID": "mine-1" };
  const response = await shed(new Request("http://localhost/api/v1/buckets?x=/healthz", { headers }), INFO);
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), { detail: "Stackroom is overloaded, try again" });
  assert.deepEqual(Object.fromEntries(response.headers), {
    "cache-control": "private, no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "content-type": "application/json",
    "referrer-policy": "strict-origin-when-cross-origin",
    "retry-after": "1",
    "x-content-type-options": "nosniff",
    "x-request-id": "mine-1",
  });
  assert.deepEqual(addresses, ["192.0.2.7"]);
  const other = await shed(new Request("http://localhost/", { headers: { "X-Request-ID": "not\tone" } }), INFO);
  assert.match(other.headers.get("X-Request-ID") ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("shed load: a refused HEAD has no body, and the body of a refused upload is dropped", async () => {
  const { shed } = refusing();
  const head = await shed(new Request("http://localhost/k", { method: "HEAD" }), INFO);
  assert.deepEqual([head.status, head.body], [503, null]);
  const dropped = Promise.withResolvers<void>();
  const body = new ReadableStream({ cancel: () => dropped.resolve() });
  const upload = await shed(new Request("http://localhost/k", { method: "PUT", body }), INFO);
  assert.equal(upload.status, 503);
  await dropped.promise;
});

Deno.test("shed load: probes are handled and do not count, and behind our proxies a client counts by its own address", async () => {
  const { shed, addresses } = refusing(1);
  const probe = await shed(new Request("http://localhost/healthz?deep"), INFO);
  assert.equal(await probe.text(), "handled /healthz");
  const forwarded = { headers: { "X-Forwarded-For": "198.51.100.1, 2001:db8:1:2:3::4" } };
  await shed(new Request("http://localhost/", forwarded), INFO);
  assert.deepEqual(addresses, ["2001:db8:1:2::/64"]);
});

Deno.test("shed load: an admitted request leaves when it has its response, or fails, and the time of a read counts", async () => {
  const events: string[] = [];
  const shedder = {
    enter: (isRead: boolean) => events.push(`enter ${isRead}`),
    leave: (isRead: boolean, since: number) => void events.push(`leave ${isRead} ${since}`),
  };
  const response = Promise.withResolvers<Response>();
  const shed = shedLoad(() => response.promise, {
    shedder: shedder as unknown as LoadShedder,
    always: new Set(),
    trustedHops: 0,
  });
  const first = shed(new Request("http://localhost/"), INFO);
  const second = shed(new Request("http://localhost/", { method: "DELETE" }), INFO);
  assert.deepEqual(events, ["enter true", "enter false"]);
  response.reject(new Error("a fault"));
  await assert.rejects(async () => await first, /a fault/);
  await assert.rejects(async () => await second, /a fault/);
  assert.deepEqual(events.slice(2), ["leave true 1", "leave false 2"]);
});
