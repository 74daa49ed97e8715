import assert from "node:assert/strict";
import fc from "fast-check";
import { createHash } from "node:crypto";
import {
  hasHeadPolicy,
  inlineScripts,
  PAGE_META_POLICY,
  pagePolicy,
  policySource,
  THEME_SCRIPT,
  viewerPolicy,
} from "@/lib/site/policies.ts";

Deno.test("policies: pages may fetch from the site and the results alone", () => {
  assert.equal(
    pagePolicy("https://campaigns.example.org/results"),
    "frame-ancestors 'none'; connect-src 'self' https://campaigns.example.org/results/",
  );
});

Deno.test("policies: a results URL that no policy can hold leaves the connections alone", () => {
  const unusable = [
    ...["", "ftp://h/results", "http://[::1]:8000/results", "http://*.example.org/r", "http://h:99999/r"],
    ...["http://ha'h/r", "http://u:p@h/r", "/results"],
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

Deno.test("viewer policy: inline scripts are those that a browser would run, by their exact text", () => {
  const html = [
    "<!doctype html><!-- <script>no()</script> --><script src=a.js></script>",
    `<script type="module" data-x="a > b">first("</p>")\r\n</script >`,
    "<SCRIPT>second()</SCRIPT/>",
    `<script data-src="x">third()</script>`,
    `<script async src='b.js'>ignored()</script>`,
    "<scripture>none</scripture><script>open",
  ].join("");
  assert.deepEqual(inlineScripts(html), [`first("</p>")\n`, "second()", "third()"]);
});

Deno.test("viewer policy: allows just the page's own scripts", () => {
  const policy = viewerPolicy("<script>start()</script><script>start()</script>");
  const hash = createHash("sha256").update("start()").digest("base64");
  assert.match(policy, new RegExp(`script-src 'self' 'sha256-${hash.replace(/[+/]/g, "\\$&")}';`));
  assert.ok(!/script-src[^;]*unsafe/.test(policy));
  assert.ok(policy.endsWith("frame-ancestors 'none'"));
});
