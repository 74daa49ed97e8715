import assert from "node:assert/strict";
import type { Handler, HandlerInfo } from "@/lib/process/handler.ts";
import { shedLoad } from "@/lib/process/shed_load.ts";

const INFO = { remoteAddr: { hostname: "192.0.2.7", port: 1, transport: "tcp" } } as HandlerInfo;
const handler: Handler = ({ url }) => new Response(`handled ${new URL(url).pathname}`);

const refusing = { enter: () => null };
const shed = shedLoad(handler, { shedder: refusing, always: new Set(["/healthz"]), trustedHops: 0 });

Deno.test("shed load: a refused request is 503 with Retry-After, its id and the headers of every response", async () => {
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
  const other = await shed(new Request("http://localhost/", { headers: { "X-Request-ID": "not\tone" } }), INFO);
  assert.match(other.headers.get("X-Request-ID") ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("shed load: a refused HEAD has no body, and the body of a refused upload is dropped", async () => {
  const head = await shed(new Request("http://localhost/k", { method: "HEAD" }), INFO);
  assert.deepEqual([head.status, head.body], [503, null]);
  const dropped = Promise.withResolvers<void>();
  const body = new ReadableStream({ cancel: () => dropped.resolve() });
  const upload = await shed(new Request("http://localhost/k", { method: "PUT", body }), INFO);
  assert.equal(upload.status, 503);
  await dropped.promise;
});

Deno.test("shed load: probes are handled", async () => {
  const probe = await shed(new Request("http://localhost/healthz?deep"), INFO);
  assert.equal(await probe.text(), "handled /healthz");
});

Deno.test("shed load: behind our proxies a client counts by its own address", async () => {
  const addresses: string[] = [];
  const shedder = {
    enter(_isRead: boolean, address: string) {
      addresses.push(address);
      return null;
    },
  };
  const headers = { "X-Forwarded-For": "198.51.100.1, 2001:db8:1:2:3::4" };
  for (const trustedHops of [0, 1]) {
    const shed = shedLoad(handler, { shedder, always: new Set(), trustedHops });
    await shed(new Request("http://localhost/", { headers }), INFO);
  }
  assert.deepEqual(addresses, ["192.0.2.7", "2001:db8:1:2::/64"]);
});

Deno.test("shed load: an admitted request leaves when it has its response, or fails", async () => {
  let inFlight = 0;
  const shedder = {
    enter() {
      inFlight++;
      return () => void inFlight--;
    },
  };
  const { promise, resolve } = Promise.withResolvers<Response>();
  const shed = shedLoad(({ method }) => method === "GET" ? promise : Promise.reject(new Error("a fault")), {
    shedder,
    always: new Set(),
    trustedHops: 0,
  });
  const first = shed(new Request("http://localhost/"), INFO);
  await assert.rejects(async () => await shed(new Request("http://localhost/", { method: "DELETE" }), INFO), /a fault/);
  assert.equal(inFlight, 1);
  resolve(new Response());
  await first;
  assert.equal(inFlight, 0);
});
