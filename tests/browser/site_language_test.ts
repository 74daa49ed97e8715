import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { SAMPLE_LOG } from "@/tests/site/fake_site.ts";
import { sampleDetail, sampleSummaries } from "@/tests/site/fake_campaigns.ts";
import { textsIn, textsOf, untranslated } from "@/tests/site/page_texts.ts";
import { tooNarrowWindows } from "./page_states.ts";
import {
  altoViewerPath,
  follow,
  logPath,
  open,
  runPath,
  sampleAlto,
  sampleRunManifest,
  siteScenarios,
  type Visit,
} from "./site_fixture.ts";

const SWEDISH = { locale: "sv-SE", reducedMotion: "reduce" } as const;
const scenario = siteScenarios("language", SWEDISH);

/** What the pages show of others. */
const DATA = [
  ...textsIn(sampleSummaries().map((job) => [job, sampleDetail(job, 0, 200), `${job.namespace}/${job.name}`])),
  ...textsIn(sampleRunManifest({ url: "http://x/" } as Visit["site"], 60)),
  ...SAMPLE_LOG.split("\n"),
  sampleAlto(30).replace(/<String CONTENT="([^"]*)"[^>]*>|<SP\/>/g, (_, word) => word ?? " "),
  ...[
    "åsa",
    "0004 · SE-GÖT-1 · Stackroom",
    "p · batch-default",
    "INFO",
    "WARNING",
    "ERROR",
    "Pending: 2 campaigns are ahead",
  ],
];

/** A record of the log with its time, or a span in units of both languages. */
function isRecord(text: string): boolean {
  return /^\d\d:\d\d:\d\d\.\d{3} /.test(text) || /^(?:\d+ (?:min|s) ?)+$/.test(text);
}

async function textsOfPage(page: Page): Promise<string[]> {
  return textsOf(await page.content());
}

/** The texts of a page in both languages, once `ready` is there. */
async function inBoth({ page }: Visit, path: string, ready: string): Promise<[string[], string[]]> {
  await page.goto(path);
  await page.locator(ready).first().waitFor({ state: "attached" });
  const swedish = await textsOfPage(page);
  await page.locator(".languages button").click();
  await page.waitForURL(path);
  await page.locator("html[lang=en]").waitFor();
  await page.locator(ready).first().waitFor({ state: "attached" });
  const english = await textsOfPage(page);
  await page.locator(".languages button").click();
  await page.locator("html[lang=sv]").waitFor();
  return [english, swedish];
}

scenario("a Swedish browser gets Swedish pages, and no text changes when they wake up", async ({ page, site }) => {
  await page.goto("login");
  assert.equal(await page.getAttribute("html", "lang"), "sv");
  await open(page);
  const sent = await (await page.context().request.get(site.url, { headers: { "Accept-Language": "sv-SE" } })).text();
  // What is read after the page was sent stands in neither of these.
  for (const part of [/<header class="bar">.*?<\/header>/s, /<search>.*?<\/search>/s]) {
    const before = textsOf(part.exec(sent)?.[0] ?? "");
    assert.ok(before.some((text) => ["Kampanjer", "Efter tillstånd"].includes(text)));
    assert.deepEqual(textsOf(part.exec(await page.content())?.[0] ?? ""), before);
  }
});

scenario("the switch keeps the address with filter and fragment, and is remembered", async ({ page }) => {
  await open(page, "?sort=name");
  await page.fill("input[type=search]", "svea");
  await page.waitForFunction(() => location.search.includes("q=svea"));
  await page.evaluate(() => history.replaceState(null, "", `${location.pathname}${location.search}#here`));
  const address = page.url();
  await page.getByRole("button", { name: "English" }).click();
  await page.locator("html[lang=en]").waitFor();
  assert.equal(page.url(), address);
  await page.reload();
  assert.equal(await page.getAttribute("html", "lang"), "en");
  assert.equal(await page.textContent("h1"), "Campaigns");
});

scenario("without scripts the switch works as well", async ({ page }) => {
  await page.goto("login?error=401");
  await follow(page, page.getByRole("button", { name: "English" }));
  await page.waitForURL("login?error=401");
  assert.equal(await page.getAttribute("html", "lang"), "en");
  assert.ok(await page.isVisible("text=The name or the password is wrong."));
}, { javaScriptEnabled: false });

scenario("nothing that scripts write is left in English, or wider than its window", async ({ page, site }) => {
  await open(page);
  for (const name of ["göteborgs-domkapitel-1790", "svea-hovratt-1870"]) await page.click(`text=${name}`);
  await page.locator(".volumes .vid").nth(15).waitFor();
  const files = { "/manifest.json": sampleRunManifest(site, 60), "/alto/0004.xml": sampleAlto(30), "/iiif.json": {} };
  await site.change({ files });
  const pages = [["", ".volumes .vid"], [logPath(site), ".line"], [runPath(site), ".slowest"], [
    altoViewerPath(site),
    ".text-line",
  ], ["uv.html", "[role=alert]"]];
  for (const [path, ready] of pages) {
    const [english, swedish] = await inBoth({ page, site }, path, ready);
    const left = untranslated(english, swedish, DATA);
    assert.deepEqual(left.filter((text) => !isRecord(text)), [], path);
    assert.deepEqual(await tooNarrowWindows(page), [], path);
  }
});
