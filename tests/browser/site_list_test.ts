import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { follow, open, siteScenarios } from "./site_fixture.ts";
import type { FakeSite } from "./site_server.ts";

const scenario = siteScenarios("list");

scenario("its title counts what is in trouble, and its times are those of the reader's zone", async ({ page }) => {
  await open(page);
  assert.equal(await page.title(), "2 in trouble · Campaigns · Stackroom");
  assert.equal(await page.locator("article h2 button").first().textContent(), "svea-hovratt-1870");
  assert.match(
    await page.locator("link[rel=icon]").getAttribute("href") ?? "",
    /^data:image\/svg\+xml,.*2%3C%2Ftext/,
  );
  // The server writes UTC, the island the reader's own zone.
  assert.match(
    await page.getByText(/^running for/).first().getAttribute("title") ?? "",
    /^Started 20 November 2026, 08:13:00 Europe\/Stockholm/,
  );
});

/** Serves so many campaigns without a Job beside the samples. */
async function serveOlder(site: FakeSite, count: number): Promise<void> {
  const jobs = await site.jobs();
  const gone = Array.from({ length: count }, (_, i) => ({ ...jobs[4], name: `borta-${String(i).padStart(2, "0")}` }));
  await site.change({
    jobs: [...jobs.filter(({ jobGone }: { jobGone: boolean }) => !jobGone), ...gone],
    reapedTotal: count,
  });
}

scenario("older campaigns come by twenty, by an address, without scripts as well", async ({ page, site }) => {
  await serveOlder(site, 45);
  await open(page);
  await page.getByText("Show 20 older campaigns of 25").click();
  await page.waitForURL("?reaped=40");
  await page.getByText("Show 5 older campaigns of 5").waitFor();
  await page.reload();
  assert.ok(await page.getByText("46 shown of 51").isVisible());
  const scriptless = await page.context().browser()?.newContext({ baseURL: site.url, javaScriptEnabled: false });
  assert.ok(scriptless);
  await scriptless.addCookies(await page.context().cookies());
  const plain = await scriptless.newPage();
  await plain.goto("?state=finished");
  assert.equal(await plain.locator("article").count(), 21);
  await follow(plain, plain.getByText("Show 20 older campaigns of 25"));
  assert.equal(plain.url(), `${site.url}?state=finished&reaped=40`);
  assert.equal(await plain.locator("article").count(), 41);
  await plain.fill("[type=search]", "borta-3");
  await follow(plain, plain.getByRole("button", { name: "Apply" }));
  assert.equal(await plain.locator("article").count(), 10);
  await plain.goto("?reaped=40");
  await follow(plain, plain.getByText("Show 5 older campaigns of 5"));
  assert.equal(await plain.getByText("older campaigns").count(), 0);
  await scriptless.close();
});

scenario("only cards on screen are read, queued ones not at all", async ({ page, site }) => {
  const jobs = await site.jobs();
  const many = Array.from({ length: 40 }, (_, i) => ({ ...jobs[0], name: `kampanj-${String(i).padStart(2, "0")}` }));
  await site.change({ jobs: [jobs[5], ...many] });
  await open(page);
  await page.getByText("kampanj-00", { exact: true }).waitFor();
  await page.waitForFunction(() => document.querySelector("article .figure")?.textContent?.includes("≥"));
  assert.ok(!(await site.reads()).some((name) => name.endsWith("kampanj-39")));
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.getByText("kampanj-39", { exact: true }).scrollIntoViewIfNeeded();
  await page.waitForFunction(() =>
    [...document.querySelectorAll("article")].find((card) => card.textContent?.includes("kampanj-39"))
      ?.querySelector(".figure")?.textContent?.includes("≥")
  );
  assert.ok(!(await site.reads()).some((name) => name.endsWith(jobs[5].name)));
}, { viewport: { width: 1280, height: 300 } });

scenario("a poll places a new campaign, and leaves the one with the focus where it is", async ({ page, site }) => {
  await page.clock.install();
  await open(page);
  const held = page.locator("article", { hasText: "bergskollegium-1720" });
  await held.locator(".fold").focus();
  await page.waitForFunction(() => document.querySelector("article .figure")?.textContent?.includes("≥"));
  const before = await held.boundingBox();
  const jobs = await site.jobs();
  await site.change({ jobs: [{ ...jobs[0], name: "ny-kampanj" }, ...jobs] });
  await page.clock.fastForward(61_000);
  await page.getByText("ny-kampanj", { exact: true }).waitFor();
  assert.deepEqual((await held.boundingBox())?.y, before?.y);
  assert.equal(
    await page.evaluate(() => document.activeElement?.textContent),
    "bergskollegium-1720",
  );
}, { viewport: { width: 1280, height: 500 } });

scenario("a page in a hidden tab reads nothing until the tab is shown", async ({ page, site }) => {
  await page.addInitScript(() => {
    let hidden = true;
    Object.defineProperty(document, "hidden", { get: () => hidden });
    addEventListener("look", () => {
      hidden = false;
      document.dispatchEvent(new Event("visibilitychange"));
    });
  });
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/v1/")) asked.push(pathname);
  });
  await page.clock.install();
  await open(page);
  await page.clock.fastForward(200_000);
  assert.deepEqual(asked, []);
  assert.deepEqual(await site.reads(), []);
  const list = page.waitForRequest(/\/api\/v1\/jobs\?/);
  await page.evaluate(() => dispatchEvent(new Event("look")));
  await list;
});

scenario("theme: chosen by hand, kept over a reload before anything is painted", async ({ page }) => {
  await open(page);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("Theme: system").click();
  await page.getByLabel("Theme: light").click();
  assert.notEqual(await ground(), light);
  await page.reload({ waitUntil: "commit" });
  await page.waitForSelector("body");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
}, { colorScheme: "light" });

/** More elements than a key needs to pass on the way to any control of the list. */
const MAX_STEPS = 60;

/** Presses Tab until an element that matches has the focus, which must be seen wherever it goes. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate((selector) => {
      const element = document.activeElement;
      if (!element) return null;
      // A radio button of a segmented control lies over its label, which shows the focus.
      const shown = element.closest("label") ?? element;
      const { top, bottom } = element.getBoundingClientRect();
      const { outlineStyle, outlineWidth } = getComputedStyle(shown);
      return {
        isGoal: element.matches(selector),
        isSeen: bottom > 0 && top < innerHeight && outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
        html: element.outerHTML.slice(0, 200),
      };
    }, selector);
    assert.ok(focus?.isSeen, `the focus is not seen: ${focus?.html}`);
    if (focus.isGoal) return;
  }
  assert.fail(`no Tab leads to ${selector}`);
}

scenario("Tab and arrows lead from the filter to a run log, and the focus is always seen", async ({ page }) => {
  await open(page);
  await tabTo(page, ".segments input");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/\?state=running$/);
  await tabTo(page, "[data-campaign='batch-default/svea-hovratt-1870'] .fold");
  await page.keyboard.press("Enter");
  await page.locator("tbody[data-chunk] tr").nth(7).waitFor();
  await tabTo(page, ".volume-segments input");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.locator("tbody[data-chunk] .chip", { hasText: "active" }).first().waitFor();
  await tabTo(page, ".file[title='Run log']");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/log\?/);
  await page.locator("[data-island=run_viewer][data-hydrated]").waitFor();
  // The run has written no summary.
}, { viewport: { width: 1280, height: 700 }, expected: [/Failed to load resource/] });
