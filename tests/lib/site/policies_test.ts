import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { PAGE_META_POLICY, pagePolicy, policySource, THEME_SCRIPT } from "@/lib/site/policies.ts";

Deno.test("policies: pages may fetch from the site and the results alone", () => {
  assert.equal(
    pagePolicy("https://campaigns.example.org/results"),
    "frame-ancestors 'none'; connect-src 'self' https://campaigns.example.org/results/",
  );
});

Deno.test("policies: a results URL that no policy can hold leaves the connections alone", () => {
  const unusable = [
    "",
    "ftp://h/results",
    "http://[::1]:8000/results",
    "http://*.example.org/r",
    "http://h:99999/r",
    "http://ha'h/r",
    "http://u:p@h/r",
    "/results",
  ];
  for (const url of unusable) assert.equal(pagePolicy(url), "frame-ancestors 'none'", url);
});

Deno.test("policies: a path cannot end the source it stands in", () => {
  assert.equal(policySource("http://h:8000/a;b,c d/"), "http://h:8000/a%3Bb%2Cc%20d/");
});

Deno.test("policies: the one inline script is allowed by its hash", () => {
  const hash = createHash("sha256").update(THEME_SCRIPT).digest("base64");
  assert.ok(
    PAGE_META_POLICY.startsWith(
      `script-src 'self' 'sha256-${hash}'; style-src 'self'; object-src 'none'; base-uri 'self'`,
    ),
  );
});
