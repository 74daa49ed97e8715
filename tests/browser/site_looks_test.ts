import assert from "node:assert/strict";

import { altoViewerPath, countShifts, follow, logIn, open, sampleAlto, withPage } from "./site_fixture.ts";

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
