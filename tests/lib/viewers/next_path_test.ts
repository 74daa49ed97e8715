import assert from "node:assert/strict";
import fc from "fast-check";

import { nextPath } from "@/lib/viewers/next_path.ts";

Deno.test("next path: a path of our own is kept with query and fragment", () => {
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
    "/login",
    "/login/?next=/",
    "/" + "a".repeat(5000),
  ];
  for (const asked of refused) assert.equal(nextPath(asked), "/", String(asked));
});

Deno.test("next path: whatever is asked, the answer stays on the origin it is used on", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.string().map((text) => `/${text}`)), (asked) => {
    const answer = nextPath(asked);
    assert.match(answer, /^\/(?!\/)/);
    assert.equal(new URL(answer, "https://site.example").origin, "https://site.example");
  }));
});
