import assert from "node:assert/strict";

import { viewerPolicy } from "@/lib/site/policies.ts";
import { withSite } from "@/tests/site/fake_site.ts";

const SITE = "http://site.example:8000";
const PATHS = ["/uv.html", "/uv", "/uv.html/", "//uv.html"];

Deno.test("viewer page: served at each of its addresses, by the policy of its own HTML", () =>
  withSite(async ({ app }) => {
    for (const path of PATHS) {
      const response = await app.request(SITE + path);
      const html = await response.text();
      assert.equal(response.status, 200, path);
      assert.match(html, /data-island="manifest_viewer"/, path);
      assert.equal([...html.matchAll(/<script(?![^>]* src=)/g)].length, 1);
      assert.doesNotMatch(html, /\sstyle=|<style|\son[a-z]+=/);
      const policy = response.headers.get("Content-Security-Policy");
      assert.equal(policy, viewerPolicy(html));
      assert.match(policy ?? "", /script-src 'self' 'sha256-[^;]+; .*img-src \* data: blob:; connect-src \*; /);
      assert.equal(response.headers.get("Cache-Control"), "private, no-store");
    }
  }));

Deno.test("viewer page: an operator's own is served in its place at each address, by the policy of that file", () =>
  withSite(async ({ app, folder }) => {
    const own = "<!doctype html><script>start()</script>";
    await Deno.writeTextFile(`${folder}/uv.html`, own);
    for (const path of [...PATHS, "/%75v.html", "/uv%2Ehtml", "/%75v"]) {
      const response = await app.request(SITE + path);
      assert.equal(await response.text(), own, path);
      assert.equal(response.headers.get("Content-Security-Policy"), viewerPolicy(own));
      const headers = { "If-None-Match": response.headers.get("ETag") ?? "" };
      const unchanged = await app.request(SITE + path, { headers });
      assert.equal(unchanged.status, 304, path);
      assert.equal(unchanged.headers.get("Content-Security-Policy"), viewerPolicy(own));
    }
  }));

Deno.test("viewer page: an operator's own that is too large to be read whole may do nothing", () =>
  withSite(async ({ app, folder }) => {
    await Deno.writeTextFile(`${folder}/uv.html`, `<script>start()</script>${" ".repeat(600 * 1024)}`);
    const response = await app.request(`${SITE}/uv.html`);
    await response.body?.cancel();
    assert.match(response.headers.get("Content-Security-Policy") ?? "", /sandbox/);
  }));
