import assert from "node:assert/strict";
import fc from "fast-check";
import { trustProxies } from "@/lib/http/client_address.ts";
import { clearedCookie, sessionCookie, sessionValues } from "@/lib/results/session_cookie.ts";

function valuesOf(
  cookie: string | null,
  headers: Record<string, string> = {},
  url = "http://a.example/",
  proxies = 1,
): string[] {
  const all = new Headers(headers);
  if (cookie !== null) all.set("Cookie", cookie);
  const request = { url, headers: all };
  trustProxies(request, proxies);
  return sessionValues(request, "s");
}

Deno.test("session cookie: its value stands under the name of the browser's scheme alone", () => {
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure"), ["plain"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "https" }), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "http, HTTPS" }), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", {}, "https://a.example/"), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "http" }, "https://a.example/"), [
    "plain",
  ]);
  assert.deepEqual(valuesOf("s=plain", { "X-Forwarded-Proto": "https" }), []);
  assert.deepEqual(valuesOf("s=plain", { "X-Forwarded-Proto": "gopher" }), ["plain"]);
  // Of a list, the entry of our outermost proxy; without a proxy of ours, any client may send it.
  const proto = (list: string, proxies: number) =>
    valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": list }, "http://a.example/", proxies);
  assert.deepEqual(proto("http, https, http", 2), ["secure"]);
  assert.deepEqual(proto("https", 2), ["secure"]);
  assert.deepEqual(proto("https", 0), ["plain"]);
});

Deno.test("session cookie: a value that cannot be a session is none", () => {
  for (const cookie of [null, "", "s", "s=", "S=x", "xs=x", "s x=y", "s=a b", 's="a"', "s=a,b", "s=\xe5", "s=\\"]) {
    assert.deepEqual(valuesOf(cookie), [], String(cookie));
  }
  assert.equal(valuesOf(`s=${"x".repeat(4096)}`)[0].length, 4096);
  assert.deepEqual(valuesOf(`s=${"x".repeat(4097)}`), []);
  assert.deepEqual(valuesOf("a=b;s=x=y ;c"), ["x=y"]);
});

Deno.test("session cookie: several are in their order, each once, four at most, and a bad one hides no good one", () => {
  assert.deepEqual(valuesOf("s=first; x=y; s=second; s=first"), ["first", "second"]);
  assert.deepEqual(valuesOf('s="bad"; s=; s=a b; s=good'), ["good"]);
  assert.deepEqual(valuesOf("s=1; s=2; __Host-s=x; s=1; s=3; s=4; s=5"), ["1", "2", "3", "4"]);
});

Deno.test("session cookie: any header gives harmless values or none", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("s", "=", ";", " ", "a", ",", '"', "\xe5", "\t") }), (text) => {
      for (const value of valuesOf(text)) assert.match(value, /^[\x21-\x7e]+$/);
    }),
  );
});

Deno.test("session cookie: whole seconds, and cleared under the same attributes", () => {
  assert.equal(sessionCookie("http", "s", "t", 36.9), "s=t; Max-Age=36; Path=/; HttpOnly; SameSite=Strict");
  assert.equal(
    clearedCookie("https", "s"),
    "__Host-s=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure",
  );
});
