import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { accessibilityFindings } from "./accessibility.ts";
import {
  altoViewerPath,
  countShifts,
  follow,
  logIn,
  logPath,
  open,
  runPath,
  sampleAlto,
  sampleRunManifest,
  type Visit,
  withPage,
} from "./site_fixture.ts";

async function scrollsSideways(page: Page): Promise<boolean> {
  return await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

async function openEverything({ page }: Visit): Promise<void> {
  for (const name of ["göteborgs-domkapitel-1790", "rådhusrätten-part2"]) await page.click(`text=${name}`);
  await page.locator(".volumes .vid").nth(15).waitFor();
  // Nothing is half below the bar, where its target would count as too small.
  await page.evaluate(() => scrollTo(0, 0));
}

for (const width of [1280, 390]) {
  for (const colorScheme of ["light", "dark"] as const) {
    const options = { colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce" as const };

    Deno.test(
      `looks: ${width} px, ${colorScheme}: accessible, and nothing wider than the screen`,
      withPage(options, async (visit) => {
        const { page, site } = visit;
        for (const path of ["login?error=401", "nowhere"]) {
          await page.goto(site.url + path);
          assert.deepEqual(await accessibilityFindings(page), [], path);
        }
        await open(visit);
        await openEverything(visit);
        assert.deepEqual(await accessibilityFindings(page), []);
        assert.equal(await scrollsSideways(page), false);
        await page.goto(site.url + logPath(site));
        await page.locator(".line").first().waitFor({ state: "attached" });
        await page.evaluate(() => scrollTo(0, 0));
        assert.deepEqual(await accessibilityFindings(page), []);
        assert.equal(await scrollsSideways(page), false);
        await site.change({ files: { "/manifest.json": sampleRunManifest(site, 60) } });
        await page.goto(site.url + runPath(site));
        if (width === 390) await page.getByRole("button", { name: "Summary of the pages" }).click();
        await page.click("text=Pages as a table");
        await page.evaluate(() => scrollTo(0, 0));
        assert.deepEqual(await accessibilityFindings(page), []);
        assert.equal(await scrollsSideways(page), false);
        await site.change({ files: { "/alto/0004.xml": sampleAlto(40), "/iiif.json": {} } });
        await page.goto(site.url + altoViewerPath(site));
        await page.waitForSelector(".text-line");
        assert.deepEqual(await accessibilityFindings(page), []);
        assert.equal(await scrollsSideways(page), false);
        await page.click("text=Show XML");
        await page.waitForSelector(".printed");
        assert.deepEqual(await accessibilityFindings(page), []);
        assert.equal(await scrollsSideways(page), false);
      }, [/404/]),
    );
  }
}

Deno.test(
  "looks: what arrives after the first paint moves nothing",
  withPage({}, async (visit) => {
    const { page } = visit;
    await open(visit);
    await countShifts(page);
    await page.reload();
    await page.waitForSelector("[data-island=campaign_board][data-hydrated]");
    await page.waitForFunction(() => document.querySelector("article .figure")?.textContent?.includes("≥"));
    assert.ok(await page.evaluate(() => globalThis.shifted) < 0.1, `${await page.evaluate(() => globalThis.shifted)}`);
  }),
);

Deno.test(
  "looks: a page of 2,500 lines arrives without moving what is there",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await site.change({ files: { "/alto/0004.xml": sampleAlto(2500), "/iiif.json": {} } });
    await open(visit, altoViewerPath(site), "alto_viewer");
    await countShifts(page);
    await page.reload();
    await page.waitForFunction(() => document.querySelectorAll(".text-line").length === 2501);
    assert.equal(await page.evaluate(() => globalThis.shifted), 0);
    await page.click("text=Show XML");
    await page.waitForSelector(".printed");
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByText("</alto>").waitFor();
  }),
);

Deno.test(
  "looks: without scripts a card leads to its volumes",
  withPage({ javaScriptEnabled: false }, async ({ page, site }) => {
    await page.goto(`${site.url}login`);
    await logIn(page);
    await follow(page, page.getByText("Volumes and provenance of svea-hovratt-1870"));
    const open = page.locator("#open-campaign");
    assert.equal(await open.locator(".volumes tbody tr").count(), 200);
    assert.ok(await open.locator("pre").isVisible());
    await follow(page, open.getByText("the next ones"));
    assert.match(await open.locator(".body > .note").textContent() ?? "", /^Volumes 201 to 400 of 1,200/);
  }),
);

Deno.test(
  "looks: without scripts no page says that it reads something, and each says what it needs or offers",
  withPage({ javaScriptEnabled: false }, async ({ page, site }) => {
    await page.goto(`${site.url}login`);
    await logIn(page);
    const offers = [
      ["", /svea-hovratt-1870/],
      [runPath(site), /Raw text/],
      [altoViewerPath(site), /The viewer needs scripts; the raw file does not\./],
      ["uv.html", /needs scripts/],
    ] as const;
    for (const [path, offer] of offers) {
      await page.goto(site.url + path);
      const text = await page.locator("body").innerText();
      assert.doesNotMatch(text, /Reading|Loading/, path);
      assert.match(text, offer, path);
    }
  }),
);

Deno.test(
  "looks: printed, the bar and the controls are gone, on white paper in the dark theme too",
  withPage({ colorScheme: "dark" }, async (visit) => {
    const { page } = visit;
    await open(visit);
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("header.bar").isVisible(), false);
    const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const ink = await page.evaluate(() => getComputedStyle(document.body).color);
    assert.deepEqual([paper, ink], ["rgb(255, 255, 255)", "rgb(29, 27, 24)"]);
  }),
);
