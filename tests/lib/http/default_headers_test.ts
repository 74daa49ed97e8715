import assert from "node:assert/strict";
import { hostCheck, httpApp } from "@/lib/http/app.ts";
import { addDefaultHeaders, SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { NO_LOG } from "./no_log.ts";

function policyOf(own: string | null): string | null {
  const headers = new Headers(own === null ? {} : { "Content-Security-Policy": own });
  addDefaultHeaders(headers);
  return headers.get("Content-Security-Policy");
}

Deno.test("default headers: a policy that says nothing of frames gets a second one, any other stays as it is", () => {
  assert.equal(policyOf(null), "frame-ancestors 'none'");
  assert.equal(policyOf(SANDBOX_POLICY), SANDBOX_POLICY);
  assert.equal(policyOf("default-src 'none'; sandbox"), "default-src 'none'; sandbox, frame-ancestors 'none'");
  assert.equal(policyOf("frame-ancestors *"), "frame-ancestors *, frame-ancestors 'none'");
});

Deno.test("host check: a known name lets no foreign one in after it, be it in the header or in the target", async () => {
  const app = httpApp({ log: NO_LOG });
  app.use(hostCheck(["localhost", "[::1]"]));
  app.all("*", () => new Response(null));
  const asked: [url: string, host: string, status: number][] = [
    ["http://localhost:8000/a", "localhost:8000", 200],
    ["http://localhost:8000/b", "localhost:8000", 200],
    ["http://localhost:8000/b", "evil.example", 421],
    ["http://evil.example/b", "localhost:8000", 421],
    ["http://evil.example/b", "localhost:8000", 421],
    ["http://localhost:8000?x=/", "LOCALHOST.", 200],
    ["http://[::1]:1/b", "[::1]:1", 200],
    ["http://localhost@evil.example/", "localhost", 421],
    ["http://a b/", "a b", 421],
    ["http://localhost:99999/", "localhost:99999", 421],
  ];
  for (const [url, host, status] of asked) {
    const request = new Request("http://localhost/", { headers: { host } });
    Object.defineProperty(request, "url", { value: url });
    assert.equal((await app.fetch(request)).status, status, `${url} under ${host}`);
  }
});
