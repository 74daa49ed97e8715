import assert from "node:assert/strict";
import fc from "fast-check";

import { hasHeadPolicy } from "@/lib/site/policies.ts";

const POLICY = `<meta http-equiv="Content-Security-Policy" content="script-src 'self'">`;

Deno.test("head policy: found in the head, however it is written", () => {
  const pages = [
    `<!doctype html><html lang="en"><head><meta charset=utf-8><title>a > b</title>${POLICY}</head>`,
    `\ufeff<!-- x --><!DOCTYPE html>\n<META HTTP-EQUIV='content-security-policy' CONTENT='x'>`,
    `<head><script>if (a < b) "<body>"</script >${POLICY}`,
    `<head data-x="a>b">${POLICY}`,
  ];
  for (const page of pages) assert.equal(hasHeadPolicy(page), true, page);
});

Deno.test("head policy: one in a comment, a script, a title or the body does not count", () => {
  const pages = [
    "",
    "<html><head></head></html>",
    `<!-- ${POLICY} -->`,
    `<script>"${POLICY}"</script>`,
    `<title>${POLICY}</title>`,
    `<head></head>${POLICY}`,
    `<body>${POLICY}`,
    `<p>${POLICY}`,
    `text ${POLICY}`,
    `<script>${POLICY}`,
    `<head>${POLICY.replace("content=", "data=")}`,
    `<head><meta http-equiv="Content-Security-Policy-Report-Only" content="x">`,
  ];
  for (const page of pages) assert.equal(hasHeadPolicy(page), false, page);
});

Deno.test("head policy: any text is judged, also a hostile one, at once", () => {
  fc.assert(fc.property(fc.string(), (text) => void hasHeadPolicy(text)));
  assert.equal(hasHeadPolicy("<meta " + `a="`.repeat(30_000)), false);
  assert.equal(hasHeadPolicy("<!--".repeat(20_000)), false);
});
