import assert from "node:assert/strict";
import { addDefaultHeaders, SANDBOX_POLICY } from "@/lib/http/default_headers.ts";

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

Deno.test("default headers: a route's own headers win", () => {
  const headers = new Headers({ "Referrer-Policy": "no-referrer" });
  addDefaultHeaders(headers);
  assert.equal(headers.get("Referrer-Policy"), "no-referrer");
  assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
});
