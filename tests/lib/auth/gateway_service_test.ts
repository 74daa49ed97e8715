import assert from "node:assert/strict";
import { clientAddress, RequestContext } from "@/lib/http/request_context.ts";
import type { UpstreamRequest } from "@/lib/http/upstream.ts";
import { remoteGateway } from "@/lib/auth/gateway_service.ts";

Deno.test("remote gateway: a request without a body is sent without the length of one", async () => {
  const sent: UpstreamRequest[] = [];
  const gateway = remoteGateway("http://gateway.example", {
    send(request) {
      sent.push(request);
      return Promise.resolve(new Response(null));
    },
  }, 0);
  const target = { path: "/api/v1/buckets", query: "" };
  const given = { "Content-Length": "50", "Transfer-Encoding": "chunked", "Content-Type": "image/png" };
  const context = new RequestContext(new Request("http://web.example/"));
  await gateway({ method: "POST", target, headers: new Headers(given) }, context);
  await gateway({ method: "POST", target, headers: new Headers(given), body: new Uint8Array(50) }, context);
  const namesOf = ({ headers }: UpstreamRequest) =>
    ["content-length", "transfer-encoding", "content-type"].filter((name) => new Headers(headers).has(name));
  assert.deepEqual(sent.map(namesOf), [["content-type"], ["content-length", "transfer-encoding", "content-type"]]);
});

Deno.test("remote gateway: a gateway behind as many proxies knows the client's address, and receives no other", async () => {
  const sentFor = async (trustedHops: number, forwardedFor: string) => {
    const seen: (string | null)[] = [];
    const gateway = remoteGateway("http://gateway.example", {
      send({ headers }) {
        seen.push(new Headers(headers).get("X-Forwarded-For"));
        return Promise.resolve(new Response(null));
      },
    }, trustedHops);
    const context = new RequestContext(
      new Request("http://here.example/storage", { headers: { "X-Forwarded-For": forwardedFor } }),
      { remoteAddr: { transport: "tcp", hostname: "192.0.2.9", port: 4711 } },
      trustedHops,
    );
    const target = { path: "/api/v1/buckets", query: "" };
    await gateway({ method: "GET", target, headers: new Headers({ "X-Forwarded-For": "198.51.100.7" }) }, context);
    return seen;
  };
  assert.deepEqual(await sentFor(0, "203.0.113.1"), ["192.0.2.9"], "a client may say anything");
  assert.deepEqual(await sentFor(1, "203.0.113.1, 203.0.113.2"), ["203.0.113.2"]);
  for (const hops of [2, 3]) {
    const [sent] = await sentFor(hops, "203.0.113.1, 203.0.113.2, 203.0.113.3");
    const known = hops === 2 ? "203.0.113.2" : "203.0.113.1";
    assert.equal(clientAddress(sent, "10.0.0.1", hops), known);
    assert.deepEqual(new Set(sent?.split(", ")), new Set([known]));
  }
});
