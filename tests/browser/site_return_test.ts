import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { open, siteScenarios, type Visit } from "./site_fixture.ts";

const scenario = siteScenarios("return", { viewport: { width: 1280, height: 500 } });

/** The summary of a run that wrote none. */
const NO_FILE = [/Failed to load resource/];

const svea = (page: Page) => page.locator("article", { hasText: "svea-hovratt-1870" });
const awake = (page: Page, island: string) => page.waitForSelector(`[data-island=${island}][data-hydrated]`);

/** Opens a card, filters its volumes, shows all that match, and scrolls to one of them. @returns its place, px */
async function lookAround({ page }: Visit): Promise<number> {
  const card = svea(page);
  await card.locator(".fold").click();
  await card.locator("tbody[data-chunk] tr").first().waitFor();
  await card.getByLabel(/^Done/).check();
  await card.getByPlaceholder("Search volumes").fill("-00");
  // Of those that match, fewer than a hundred: the button moves when they are filtered, and a click could miss it.
  await card.getByText(/^Show the other \d\d volumes/).click();
  // Only rows near the viewport are rendered, and the click may leave the page anywhere.
  await page.waitForFunction(() => {
    const isThere = [...document.querySelectorAll("tbody[data-chunk] tr")].some(({ textContent }) =>
      textContent?.includes("A1-0050")
    );
    if (!isThere) scrollBy(0, 300);
    return isThere;
  });
  await row(page).evaluate((element) => scrollBy(0, element.getBoundingClientRect().top - 300));
  return await topOf(page);
}

const row = (page: Page) => svea(page).locator("tbody[data-chunk] tr", { hasText: "A1-0050" });
const topOf = (page: Page) => row(page).evaluate((element) => Math.round(element.getBoundingClientRect().top));

async function assertAsBefore(page: Page, top: number): Promise<void> {
  await awake(page, "campaign_board");
  await row(page).waitFor();
  assert.equal(await svea(page).getByLabel(/^Done/).isChecked(), true);
  assert.equal(await svea(page).getByPlaceholder("Search volumes").inputValue(), "-00");
  await page.waitForFunction((top) => {
    const row = [...document.querySelectorAll("tbody[data-chunk] tr")].find(({ textContent }) =>
      textContent?.includes("A1-0050")
    );
    return row && Math.abs(row.getBoundingClientRect().top - top) <= 2;
  }, top);
  await page.waitForFunction(() => /^Run log of .*A1-0050$/.test(document.activeElement?.ariaLabel ?? ""));
}

scenario("from a run log, by any way back, the card is as the reader left it", async ({ page, site }) => {
  await open(page);
  const top = await lookAround({ page, site });
  const toLog = async () => {
    await row(page).getByTitle("Run log").click();
    await awake(page, "run_viewer");
  };
  await toLog();
  await page.goBack();
  await assertAsBefore(page, top);
  await toLog();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("Campaigns").click();
  await assertAsBefore(page, top);
  await toLog();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("svea-hovratt-1870").click();
  await assertAsBefore(page, top);
  assert.equal(await page.locator("article").count(), 1);
}, { expected: NO_FILE });

scenario("an older campaign is there again, and a new list begins at its top", async ({ page, site }) => {
  const jobs = await site.jobs();
  const gone = Array.from({ length: 25 }, (_, i) => ({ ...jobs[4], name: `borta-${String(i).padStart(2, "0")}` }));
  await site.change({ jobs: [...jobs.slice(0, 3), ...gone], reapedTotal: 25 });
  await open(page);
  await page.getByText("Show 5 older campaigns").click();
  const card = page.locator("article", { hasText: "borta-24" });
  await card.locator(".fold").click();
  await card.getByTitle("Run log").first().click();
  await awake(page, "run_viewer");
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByText("Campaigns").click();
  await awake(page, "campaign_board");
  await card.getByTitle("Run log").first().waitFor();
  await page.waitForFunction(() => scrollY > 0);
  await page.goto("docs");
  await page.getByRole("link", { name: "Campaigns", exact: true }).click();
  await awake(page, "campaign_board");
  assert.equal(await page.evaluate(() => scrollY), 0);
  assert.ok(await page.getByText("Show 5 older campaigns of 5").isVisible());
}, { expected: NO_FILE });

scenario("the campaign that an address names is open and on screen", async ({ page, site }) => {
  await open(page, "?open=batch-default%2Flandsarkivet-lund");
  const card = page.locator("article", { hasText: "landsarkivet-lund" });
  await card.locator("tbody tr").first().waitFor();
  await page.waitForFunction(() => {
    const card = document.querySelector("[data-campaign='batch-default/landsarkivet-lund']");
    return card && card.getBoundingClientRect().top < 250;
  });
  assert.equal(await card.locator(".fold").getAttribute("aria-expanded"), "true");
  const jobs = await site.jobs();
  const gone = Array.from({ length: 70 }, (_, day) => ({
    ...jobs[4],
    name: `borta-${day}`,
    finishedAt: new Date(Date.UTC(2026, 0, 1) - day * 86_400_000).toISOString(),
  }));
  await site.change({ jobs: gone, reapedTotal: gone.length });
  await page.goto("?open=batch-default%2Fborta-44");
  await page.locator("[data-campaign$=borta-44] tbody tr").first().waitFor();
  await page.waitForFunction(() => {
    const card = document.querySelector("[data-campaign$=borta-44]");
    return card && card.getBoundingClientRect().top < 250;
  });
  await page.getByText("Show 10 older campaigns of 10").waitFor();
  await page.goto("?open=batch-default%2Fborta-444");
  assert.ok(
    await page.getByRole("alert").getByText("There is no campaign named batch-default/borta-444.").isVisible(),
  );
});
