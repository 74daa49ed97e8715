import assert from "node:assert/strict";
import fc from "fast-check";

import { nextPath } from "@/lib/results/login_form.ts";

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
