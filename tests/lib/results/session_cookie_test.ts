import assert from "node:assert/strict";
import fc from "fast-check";
import { clearedCookie, sessionCookie, sessionValue } from "@/lib/results/session_cookie.ts";

function valueOf(
  cookie: string | null,
  headers: Record<string, string> = {},
  url = "http://a.example/",
): string | null {
  const all = new Headers(headers);
  if (cookie !== null) all.set("Cookie", cookie);
  return sessionValue({ url, headers: all }, "s");
}

Deno.test("session cookie: its value stands under the name of the browser's scheme alone", () => {
  assert.equal(valueOf("s=plain; __Host-s=secure"), "plain");
  assert.equal(valueOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "https" }), "secure");
  assert.equal(valueOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "HTTPS, http" }), "secure");
  assert.equal(valueOf("s=plain; __Host-s=secure", {}, "https://a.example/"), "secure");
  assert.equal(valueOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "http" }, "https://a.example/"), "plain");
  assert.equal(valueOf("s=plain", { "X-Forwarded-Proto": "https" }), null);
  assert.equal(valueOf("s=plain", { "X-Forwarded-Proto": "gopher" }), "plain");
});

Deno.test("session cookie: a value that cannot be a session is none", () => {
  for (const cookie of [null, "", "s", "s=", "S=x", "xs=x", "s x=y", "s=a b", 's="a"', "s=a,b", "s=\xe5", "s=\\"]) {
    assert.equal(valueOf(cookie), null, String(cookie));
  }
  assert.equal(valueOf(`s=${"x".repeat(4096)}`)?.length, 4096);
  assert.equal(valueOf(`s=${"x".repeat(4097)}`), null);
  assert.equal(valueOf("a=b;s=x=y ;c"), "x=y");
  assert.equal(valueOf("s=first; s=second"), "first");
});

Deno.test("session cookie: any header is answered with a harmless value or none", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("s", "=", ";", " ", "a", ",", '"', "\xe5", "\t") }), (text) => {
      const value = valueOf(text);
      assert.ok(value === null || /^[\x21-\x7e]+$/.test(value));
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
