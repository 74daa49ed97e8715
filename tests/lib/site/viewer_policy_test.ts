import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { inlineScripts, viewerPolicy } from "@/lib/site/policies.ts";

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
