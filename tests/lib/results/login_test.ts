import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type LoginNote, loginNoteCookie, nextPath, readLoginNote } from "@/lib/results/results_login.ts";

const NOW = Date.UTC(2026, 10, 23, 12);
const request = (cookie: string) => new Request("https://site.example/login", { headers: { Cookie: cookie } });
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

Deno.test("login note: is read as it was written, beside other cookies", () => {
  const notes: LoginNote[] = [
    { kind: "failed", username: "Åsa; a=b", retryAt: null },
    { kind: "failed", username: "", retryAt: NOW + 40_000 },
    { kind: "session", endsAt: NOW },
    { kind: "loggedOut" },
    { kind: "failed", username: "\u0001".repeat(256), retryAt: 8.64e15 },
    { kind: "session", endsAt: 0 },
  ];
  for (const note of notes) {
    const cookie = loginNoteCookie("https", note, NOW).split(";")[0];
    assert.deepEqual(readLoginNote(request(`a=b; ${cookie}; results_session=x`)), note);
  }
});

Deno.test("login note: is for the login page alone, and lasts as long as it says something", () => {
  const cookie = (note: LoginNote) => loginNoteCookie("https", note, NOW);
  assert.match(cookie({ kind: "loggedOut" }), /; Max-Age=600; Path=\/login; HttpOnly; SameSite=Strict; Secure$/);
  assert.doesNotMatch(loginNoteCookie("http", { kind: "loggedOut" }, NOW), /Secure/);
  assert.match(cookie({ kind: "failed", username: "a", retryAt: NOW + 3_000_000 }), /Max-Age=3000;/);
  assert.match(cookie({ kind: "session", endsAt: NOW + 3_600_000 }), /Max-Age=90000;/);
});

Deno.test("login note: anything else in its cookie is no note", () => {
  const values = [
    "",
    "%",
    "e30",
    encoded(null),
    encoded({ kind: "failed" }),
    encoded({ kind: "failed", username: "a".repeat(257), retryAt: null }),
    encoded({ kind: "failed", username: ["a"], retryAt: null }),
    encoded({ kind: "session", endsAt: "soon" }),
    encoded({ kind: "other" }),
    encoded({ kind: "failed", username: "a", retryAt: 8.64e15 + 1 }),
    encoded({ kind: "failed", username: "a", retryAt: -1 }),
    encoded({ kind: "session", endsAt: 1e300 }),
    encoded({ kind: "session", endsAt: -8.64e15 }),
    encoded({ kind: "loggedOut", more: "a".repeat(3100) }),
    encoded({ kind: "failed", username: "a".repeat(3000), retryAt: null }),
  ];
  for (const value of values) assert.equal(readLoginNote(request(`login_note=${value}`)), null, value);
  assert.equal(readLoginNote(new Request("https://site.example/login")), null);
  fc.assert(fc.property(fc.string(), (text) => {
    const headers = new Headers();
    try {
      headers.set("Cookie", `login_note=${text}`);
    } catch {
      return;
    }
    assert.equal(readLoginNote({ headers }), null);
  }));
});

Deno.test("next path: returns a path of this origin with query and fragment", () => {
  assert.equal(nextPath("/log?log=a%2Fb&live=1#L12"), "/log?log=a%2Fb&live=1#L12");
});

Deno.test("next path: another site, a script, the login itself and nothing lead to the list", () => {
  const refused = [
    null,
    "",
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "/\t/evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "blob:http://here.invalid/7f5d",
    "blob:https://evil.example/7f5d",
    "http://here.invalid/log",
    "log",
    " /log",
    "/log\n",
    "/\u0000log",
    "/a\\..\\\\evil.example",
    "/%2e//evil.example",
    "/login",
    "/login/?next=/",
    "/" + "a".repeat(5000),
  ];
  for (const asked of refused) assert.equal(nextPath(asked), "/", String(asked));
});

Deno.test("next path: stays on its own origin for any input", () => {
  // What redirects were ever tricked with, in any order.
  const hostile = fc.array(
    fc.constantFrom(
      ...["/", "//", "\\", "%5c", "%2f", ":", "@", "?", "#", ".", "..", "%2e", "\t", "\n", "\r", "\0", " ", "\u2028"],
      ...["http:", "https:", "blob:", "data:", "javascript:", "file:", "here.invalid", "evil.example", "login", "a"],
    ),
    { maxLength: 8 },
  ).map((parts) => parts.join(""));
  const asked = fc.oneof(
    fc.string(),
    fc.webUrl(),
    hostile,
    hostile.map((text) => `/${text}`),
    hostile.map((text) => `blob:${text}`),
  );
  fc.assert(
    fc.property(asked, (asked) => {
      const answer = nextPath(asked);
      assert.match(answer, /^\/(?![\/\\])[^\\\p{Cc}]*$/u);
      assert.equal(new URL(answer, "https://site.example").origin, "https://site.example");
      assert.equal(nextPath(answer), answer);
    }),
    { numRuns: 2000 },
  );
});
