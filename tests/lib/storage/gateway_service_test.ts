import assert from "node:assert/strict";
import { RequestContext } from "@/lib/http/request_context.ts";
import type { UpstreamRequest } from "@/lib/http/upstream/upstream_request.ts";
import { remoteGateway } from "@/lib/storage/gateway_service.ts";

Deno.test("remote gateway: a request without a body is sent without the length of one", async () => {
  const sent: UpstreamRequest[] = [];
  const gateway = remoteGateway("http://gateway.example", {
    send(request) {
      sent.push(request);
      return Promise.resolve(new Response(null));
    },
  });
  const target = { path: "/api/v1/buckets", query: "" };
  const given = { "Content-Length": "50", "Transfer-Encoding": "chunked", "Content-Type": "image/png" };
  const context = new RequestContext(new Request("http://web.example/"));
  await gateway({ method: "POST", target, headers: new Headers(given) }, context);
  await gateway({ method: "POST", target, headers: new Headers(given), body: new Uint8Array(50) }, context);
  const namesOf = ({ headers }: UpstreamRequest) =>
    ["content-length", "transfer-encoding", "content-type"].filter((name) => new Headers(headers).has(name));
  assert.deepEqual(sent.map(namesOf), [["content-type"], ["content-length", "transfer-encoding", "content-type"]]);
});
