import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { altoViewerPath, open, openAlto, openRun, sampleAlto, siteScenarios } from "./site_fixture.ts";
import { smallTargets, TARGET } from "./page_states.ts";
import { openViewer, openVolume } from "./viewer_volume.ts";

const PHONE = { viewport: { width: 390, height: 780 }, reducedMotion: "reduce" } as const;
const scenario = siteScenarios("phone", PHONE);
/** What is wrong with the controls of a page, except for the bars of the chart, whose table has links. */
const smallControls = (page: Page) => {
  const controls = ":is(a, button, select, summary, label.switch, label.field):not(.skip, .page-grid a)";
  return smallTargets(page.locator(controls));
};

scenario("the viewer shows the whole page first, and panels come as sheets, one at a time", async ({ page }) => {
  await openVolume(page, { pages: 30 }, 3);
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  assert.equal(await page.locator(".text-panel, .thumbs").count(), 0);
  const box = async (selector: string) => await page.locator(selector).boundingBox() ?? assert.fail(selector);
  /** The page lies within the surface, and fills it in one direction. */
  const assertWhole = async () => {
    const [surface, whole] = [await box(".surface"), await box(".page-marks")];
    assert.ok(whole.x >= surface.x && whole.x + whole.width <= surface.x + surface.width + 1);
    assert.ok(whole.y >= surface.y - 1 && whole.y + whole.height <= surface.y + surface.height + 1);
    assert.ok(whole.width > surface.width - 24 || whole.height > surface.height - 24);
  };
  await assertWhole();
  assert.ok((await box(".surface")).height > 780 * 0.7);
  assert.deepEqual(await smallControls(page), []);
  for (const [name, panel] of [["Thumbnails", ".thumbs"], ["Text", ".text-panel"]]) {
    await page.getByRole("button", { name, exact: true }).click();
    await page.locator(panel).waitFor();
    assert.equal(await page.locator(".text-panel, .thumbs").count(), 1);
    const [sheet, dock] = [await box(panel), await box(".dock")];
    assert.ok(sheet.y + sheet.height <= dock.y + 1 && dock.y + dock.height <= 780);
    await page.waitForFunction((top) => {
      const { bottom } = document.querySelector(".page-marks")!.getBoundingClientRect();
      return bottom <= top;
    }, sheet.y);
    await assertWhole();
    assert.deepEqual(await smallControls(page), []);
  }
  await page.locator(".text-lines li").nth(2).click();
  await page.waitForFunction(() => document.querySelector(".page-marks")!.getBoundingClientRect().width > 390);
  await page.getByRole("button", { name: /^Whole page/ }).click();
  await page.waitForFunction(() => document.querySelector(".page-marks")!.getBoundingClientRect().width < 390);
  await assertWhole();
  await page.getByRole("button", { name: "Close the text" }).click();
  await page.getByRole("button", { name: "About this volume" }).click();
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await smallControls(page), []);
  await openViewer(page);
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  assert.equal(await page.locator(".text-panel, .thumbs").count(), 0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator(".text-lines").waitFor();
  await page.locator(".thumbs").waitFor();
  // The page leaves room for the controls, which are over the image now.
  await page.waitForFunction(() => {
    const image = document.querySelector(".page-marks")?.getBoundingClientRect();
    const dock = document.querySelector(".dock")?.getBoundingClientRect();
    return image && dock && image.bottom <= dock.top;
  });
});

for (const [width, height] of [[320, 640], [390, 780], [700, 800], [844, 390]]) {
  scenario(`on ${width} × ${height} px no control of the page is cut off`, async ({ page }) => {
    await openVolume(page, { pages: 2000 }, 1998);
    await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
    const controls = await page.locator(".dock").getByRole("button").all();
    assert.ok(controls.length >= 8);
    const stage = await page.locator(".surface").boundingBox() ?? assert.fail();
    for (const control of controls) {
      const box = await control.boundingBox() ?? assert.fail();
      assert.ok(box.x >= stage.x && box.x + box.width <= stage.x + stage.width, await control.innerHTML());
      assert.ok(box.y + box.height <= height);
    }
    const dock = await page.locator(".dock").boundingBox() ?? assert.fail();
    assert.ok(dock.height < 110, "more than two rows");
  }, { viewport: { width, height }, reducedMotion: "reduce" });
}

scenario("the summary of a run stands folded above its log, with a link to the log", async ({ page, site }) => {
  await openRun({ page, site }, 60);
  await page.locator(".figures").getByText("15 min 12 s").waitFor();
  const top = async (selector: string) => (await page.locator(selector).boundingBox())?.y ?? assert.fail(selector);
  assert.ok(await top(".run-summary") < await top(".run-log"));
  assert.equal(await page.locator(".page-grid").isVisible(), false);
  assert.deepEqual(await smallControls(page), []);
  const fold = page.getByRole("button", { name: "Summary of the pages" });
  assert.equal(await fold.getAttribute("aria-expanded"), "false");
  await fold.click();
  await page.locator(".page-grid").waitFor();
  await page.click("text=Pages as a table");
  assert.deepEqual(await smallControls(page), []);
  await page.getByRole("link", { name: "To the log" }).click();
  await page.waitForFunction(() => document.querySelector("#log")!.getBoundingClientRect().top < innerHeight - 40);
});

scenario("the controls of a page's text are large enough for a thumb", async ({ page, site }) => {
  await openAlto({ page, site }, sampleAlto(12));
  await page.locator(".text-line").nth(12).waitFor();
  assert.deepEqual(await smallControls(page), []);
});

scenario("the way back is one line, however long the name of its campaign is", async ({ page, site }) => {
  await site.change({ files: { "/alto/0004.xml": sampleAlto(12), "/iiif.json": {} } });
  await open(page, `${altoViewerPath(site)}&campaign=batch-default%2F${"campaign-".repeat(6)}1`, "alto_viewer");
  const steps = page.locator(".crumbs li");
  assert.equal(await steps.count(), 4);
  const boxes = await steps.evaluateAll((all) => all.map((step) => step.getBoundingClientRect().toJSON()));
  assert.equal(new Set(boxes.map(({ top }) => top)).size, 1);
  for (const { right, width } of boxes) assert.ok(width >= TARGET && right <= 320, JSON.stringify(boxes));
}, { viewport: { width: 320, height: 780 } });
