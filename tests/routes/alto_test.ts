import assert from "node:assert/strict";

import { ASSETS, fakeSite } from "@/tests/site/fake_site.ts";

const HOME = "http://site.example:8000/";
const LOGGED_IN = { Cookie: "fake_session=%C3%85sa" };
const SRC = `${HOME}results/batch-default/lion-v2/SE-G%C3%96T-1/alto/0004%3Cb%3E.xml`;

const RUN_LOG = `/log?log=${encodeURIComponent(`${HOME}results/batch-default/status/logs/lion-v2/SE-G%C3%96T-1.txt`)}` +
  `&manifest=${encodeURIComponent(`${HOME}results/batch-default/lion-v2/SE-G%C3%96T-1/manifest.json`)}`;

/** Address and text of each step of the way back. */
function crumbs(html: string) {
  const list = /<nav class="crumbs"[^>]*><ol>(.*?)<\/ol>/.exec(html)?.[1] ?? "";
  return [...list.matchAll(/<li[^>]*>(?:<a href="([^"]*)">)?([^<]*)/g)]
    .map(([, href, text]) => [href?.replaceAll("&amp;", "&"), text]);
}

async function page(query: string) {
  const response = await fakeSite(ASSETS, "/none").app.request(`${HOME}alto${query}`, { headers: LOGGED_IN });
  return { status: response.status, text: await response.text() };
}

Deno.test("page text: named by its file, with what its address says, and the way to the raw file without scripts", async () => {
  const { status, text } = await page(`?src=${encodeURIComponent(SRC)}`);
  assert.equal(status, 200);
  assert.match(text, /<title>0004&lt;b> · SE-GÖT-1 · Stackroom<\/title>/);
  assert.deepEqual(crumbs(text), [["/", "Campaigns"], [RUN_LOG, "Run log"], [undefined, "Page text"]]);
  assert.match(text, /class="confidence-legend"/);
  assert.match(text, /<h1 class="vid">0004&lt;b><\/h1>/);
  assert.match(text, /Page text · SE-GÖT-1 · lion-v2 · batch-default/);
  assert.match(text, new RegExp(`<a href="${SRC}">Raw file</a>`));
  assert.match(text, /class="empty without-scripts">The viewer needs scripts/);
  assert.match(text, /<form method="post" action="\/results\/_logout">/);
  assert.ok(!text.includes("<b>"));
});

Deno.test("page text: the way back leads over the run log to the campaign that the address names", async () => {
  const { text } = await page(`?src=${encodeURIComponent(SRC)}&campaign=batch-default%2Fsvea-1870`);
  assert.deepEqual(crumbs(text), [
    ["/", "Campaigns"],
    ["/?q=svea-1870&open=batch-default%2Fsvea-1870#open-campaign", "svea-1870"],
    [`${RUN_LOG}&campaign=batch-default%2Fsvea-1870`, "Run log"],
    [undefined, "Page text"],
  ]);
  const hostile = await page(`?src=${encodeURIComponent(SRC)}&campaign=${encodeURIComponent("a/<b>")}`);
  assert.deepEqual(crumbs(hostile.text), [["/", "Campaigns"], [RUN_LOG, "Run log"], [undefined, "Page text"]]);
});

Deno.test("page text: opens only what lies under the results, and names what it refuses", async () => {
  const none = await page("");
  assert.equal(none.status, 400);
  assert.match(none.text, /role="alert"[^>]*>No page is named/);
  const refused = [
    "",
    "https://evil.example/results/a/alto/1.xml",
  ];
  for (const src of refused) {
    const { status, text } = await page(`?src=${encodeURIComponent(src)}`);
    assert.equal(status, 400, src);
    assert.match(text, /role="alert"[^>]*>The address given as “src”/, src);
    assert.ok(!text.includes("alto_viewer"), src);
  }
});
