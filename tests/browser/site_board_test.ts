import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { awake, countShifts, logIn, open, siteScenarios } from "./site_fixture.ts";
import { type FakeSite, startFakeSite } from "./site_server.ts";

const scenario = siteScenarios("board");

const OFFLINE = [/Failed to load resource/];

/** So many campaigns. */
async function serveMany(site: FakeSite, count: number): Promise<void> {
  const jobs = await site.jobs();
  const counts = { total: 80, active: 3, done: 40, failed: 0 };
  const many = Array.from({ length: count }, (_, i) => ({
    ...jobs[i % 7],
    name: `k${i}-${jobs[i % 7].name}`,
    counts,
    jobGone: false,
  }));
  await site.change({ jobs: many, reapedTotal: 0 });
}

/** Scrolls to the last of the cards; the page grows while those that come near are measured. */
async function goToEnd(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector("[aria-posinset='1020']") !== null;
  });
}

const names = (page: Page) => page.locator("article h2").allTextContents();
const nodes = (page: Page) => page.evaluate(() => document.querySelectorAll("*").length);

scenario("the filter and the order are in the address, and come back with it", async ({ page }) => {
  await open(page);
  await page.getByLabel(/^Waiting/).check();
  await page.waitForURL("?state=waiting");
  await page.getByLabel("Order", { exact: true }).selectOption("name");
  await page.waitForURL("?state=waiting&sort=name");
  await page.getByLabel("Filter by name or pipeline").fill("lund");
  await page.waitForURL("?q=lund&state=waiting&sort=name");
  assert.deepEqual(await names(page), ["landsarkivet-lund"]);
  await page.goBack();
  await page.locator("article").nth(1).waitFor();
  assert.deepEqual(await names(page), [
    "ett-mycket-långt-namn-på-en-kampanj-som-fyller-hela-raden-i-listan",
    "landsarkivet-lund",
  ]);
  assert.equal(await page.getByLabel("Filter by name or pipeline").inputValue(), "");
  await page.goForward();
  await page.reload();
  assert.deepEqual(await names(page), ["landsarkivet-lund"]);
  assert.equal(await page.getByLabel("Filter by name or pipeline").inputValue(), "lund");
  const counts = await page.locator(".segments .count").allTextContents();
  assert.deepEqual(counts, ["1", "0", "0", "1", "0"]);
});

scenario("keys go through the campaigns, open them, find the filter, and can be switched off", async ({ page }) => {
  await open(page);
  const focused = () => page.evaluate(() => document.activeElement?.closest<HTMLElement>(".place")?.dataset.key);
  await page.keyboard.press("j");
  assert.equal(await focused(), "batch-default/svea-hovratt-1870");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await focused(), "batch-default/kommerskollegium-kartor");
  await page.keyboard.press("o");
  await page.locator(".place[data-key$=kartor] .fold[aria-expanded=true]").waitFor();
  await page.keyboard.press("o");
  await page.locator(".place[data-key$=kartor] .fold[aria-expanded=false]").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("jo?k");
  assert.equal(await page.getByLabel("Filter by name or pipeline").inputValue(), "jo?k");
  await page.keyboard.press("Tab");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByText("Next campaign").waitFor();
  await dialog.getByLabel("Single characters are shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(
    await page.getByLabel("Filter by name or pipeline").evaluate((field) => field.matches(":focus")),
    false,
  );
});

scenario("of a thousand campaigns the document has a few, and keys and filter reach all", async ({ page, site }) => {
  await serveMany(site, 1020);
  await open(page);
  await page.getByText("1,020 shown of 1,020").waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".place").length < 50);
  assert.ok(await nodes(page) < 5000, `${await nodes(page)} nodes`);
  await page.keyboard.press("j");
  await goToEnd(page);
  assert.ok(await nodes(page) < 5000, `${await nodes(page)} nodes`);
  assert.equal(await page.locator("[aria-posinset='1'] .fold:focus").count(), 1, "the card with the focus stays");
  await page.keyboard.press("j");
  await page.locator("[aria-posinset='2'] .fold:focus").waitFor();
  await page.waitForFunction(() => {
    const { top, bottom } = document.activeElement!.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  await goToEnd(page);
  await page.getByLabel("Filter by name or pipeline").fill("k1013-");
  await page.waitForFunction(() => document.querySelectorAll("article").length === 1);
  await page.getByLabel("Filter by name or pipeline").fill("");
  await page.waitForFunction(() => document.querySelectorAll("article").length > 5);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.waitForFunction(() => document.querySelectorAll("article").length === 1020);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.waitForFunction(() => document.querySelectorAll("article").length < 50);
});

for (const width of [1280, 390]) {
  scenario(`${width} px: nothing moves, with a card that opens again and without a session`, async ({ page }) => {
    await open(page);
    const card = page.locator(".place[data-key$=svea-hovratt-1870]");
    await card.locator(".fold").click();
    await card.locator(".vid").nth(5).waitFor();
    await countShifts(page);
    await page.reload();
    await card.locator(".vid").nth(5).waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const shifted = await page.evaluate(() => globalThis.shifted);
    assert.ok(shifted < 0.02, `${shifted}`);
    await card.locator(".fold").click();
    await card.locator(".fold[aria-expanded=false]").waitFor();
    assert.ok((await card.boundingBox())!.height < 200, "a folded card needs no reserved space");
    await page.context().clearCookies();
    await page.route("**/api/v1/**", () => {});
    await page.goto("");
    await page.waitForSelector("[data-island=campaign_board][data-hydrated]");
    assert.equal(await page.evaluate(() => globalThis.shifted), 0);
  }, { viewport: { width, height: 900 } });
}

scenario("the introduction stays closed, in another tab too", async ({ page }) => {
  await open(page);
  const introduction = (tab: Page) => tab.getByLabel("What this is");
  assert.match(await introduction(page).textContent() ?? "", /A campaign is a batch of volumes .* one pipeline/);
  await page.getByLabel("Close, and do not show again").click();
  assert.equal(await introduction(page).isVisible(), false);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
  const other = await page.context().newPage();
  await other.goto("");
  assert.equal(await introduction(other).isVisible(), false);
});

scenario("a session that ended in another tab leads to the login, and back to the filter", async ({ page }) => {
  await page.clock.install();
  await open(page, "?state=waiting");
  assert.equal(await page.locator("script[type=module]").count(), 1);
  const other = await page.context().newPage();
  await other.goto("");
  await other.click("text=Log out");
  await other.waitForURL(/login/);
  await page.clock.fastForward(61_000);
  await page.waitForURL((url) => url.pathname === "/login" && url.searchParams.get("next") === "/?state=waiting");
  await page.fill("[name=username]", "åsa");
  await page.fill("[name=password]", "stackroom-demo");
  await page.click("button[type=submit]");
  await page.waitForURL("?state=waiting");
  assert.equal((await names(page)).length, 2);
}, { expected: OFFLINE });

scenario("a server that is gone is said, and read again on request or with the network", async ({ page }) => {
  // One of its own, which it stops.
  await using site = await startFakeSite();
  await page.clock.install();
  await page.goto(`${site.url}login`);
  await logIn(page);
  await awake(page);
  const top = async () => (await page.locator("article").first().boundingBox())?.y;
  const before = await top();
  const banner = page.locator(".board-status.bad");
  await page.context().setOffline(true);
  await page.clock.fastForward(61_000);
  await banner.waitFor();
  assert.match(
    await banner.textContent() ?? "",
    /^No connection to the server\. The list is from .* Next try at .*Try now/,
  );
  assert.equal(await top(), before);
  await page.context().setOffline(false);
  await banner.waitFor({ state: "detached" });
  const port = Number(new URL(site.url).port);
  await site.stop();
  await page.clock.fastForward(61_000);
  await banner.waitFor();
  await using next = await startFakeSite(port);
  await next.change({ jobs: [] });
  await page.getByRole("button", { name: "Try now" }).click();
  await banner.waitFor({ state: "detached" });
  await page.getByText("There are no campaigns yet.").waitFor();
}, { expected: OFFLINE });

scenario("a silent cluster is said with its time, and trouble is read out", async ({ page, site }) => {
  await page.clock.install();
  await open(page);
  const jobs = await site.jobs();
  await site.change({
    dataAge: 90,
    jobs: jobs.map((job: object, i: number) => i === 0 ? { ...job, phase: "Failed" } : job),
  });
  await page.clock.fastForward(61_000);
  await page.getByText(/The cluster has not answered since \d\d:\d\d:\d\d/).waitFor();
  await page.locator("[role=status]", { hasText: "svea-hovratt-1870 is in trouble." }).waitFor();
  assert.equal(await page.title(), "3 in trouble · Campaigns · Stackroom");
});

scenario("its line of state has one height at every width, whatever it says", async ({ page, site }) => {
  await open(page);
  const line = page.locator(".board-status");
  const height = async (text: RegExp) => {
    await line.getByText(text).waitFor();
    return (await line.boundingBox())?.height;
  };
  const readNow = () => page.evaluate(() => dispatchEvent(new Event("online")));
  for (const width of [320, 390, 640, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await site.change({ apiStatus: 200, dataAge: null });
    await readNow();
    const usual = await height(/7 shown/);
    await site.change({ dataAge: 90 });
    await readNow();
    assert.equal(await height(/has not answered since/), usual, `stale at ${width} px`);
    await site.change({ apiStatus: 502 });
    await readNow();
    assert.equal(await height(/does not answer/), usual, `unreachable at ${width} px`);
  }
}, { expected: OFFLINE });
