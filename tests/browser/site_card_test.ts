import assert from "node:assert/strict";

import type { Locator, Page } from "playwright-core";

import { accessibilityFindings } from "./accessibility.ts";
import { smallTargets, TARGET } from "./page_states.ts";
import { open, siteScenarios, type Visit } from "./site_fixture.ts";

const DESK = { viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" } as const;
const PHONE = { viewport: { width: 390, height: 780 }, reducedMotion: "reduce" } as const;
const scenario = siteScenarios("card", DESK);
const NOW = "2026-11-21T12:30:00Z";
/** Elements of a page that stays quick (the list's own bound). */
const MAX_ELEMENTS = 5000;

const LARGE = {
  name: "stor-kampanj",
  phase: "Succeeded",
  finishedAt: "2026-11-21T12:00:00Z",
  counts: { total: 8000, active: 0, done: 7940, failed: 60 },
};

/** Opens the list over campaigns that are changed copies of the first sample, at a moment that stands still. */
async function openList({ page, site }: Visit, changes: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
  const jobs = await site.jobs();
  await site.change({ jobs: changes.map((change) => ({ ...jobs[0], ...change })) });
  await page.clock.install({ time: new Date(NOW) });
  await open(page);
}

function cardOf(page: Page, name: string): Locator {
  return page.locator(`article[data-campaign='batch-default/${name}']`);
}

async function openCard(page: Page, name: string): Promise<Locator> {
  const card = cardOf(page, name);
  await card.locator(".fold").click();
  await card.locator("tbody[data-chunk] tr").first().waitFor();
  return card;
}

async function saved(page: Page, button: Locator): Promise<{ name: string; rows: string[] }> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const text = await Deno.readTextFile(await download.path());
  return { name: download.suggestedFilename(), rows: text.trimEnd().split("\r\n") };
}

const elements = (page: Page) => page.evaluate(() => document.querySelectorAll("*").length);

scenario("folded and open it is accessible in every state, and its times are ages", async ({ page, site }) => {
  const failed = { total: 40, active: 0, done: 37, failed: 3 };
  const cause = { stage: null, permanent: null, error: "OOMKilled (exit code 137)" };
  await openList({ page, site }, [
    { name: "running" },
    { name: "running-with-failed", counts: { total: 40, active: 3, done: 20, failed: 1 } },
    {
      name: "warm-up-failed",
      warmup: { phase: "failed", reason: cause },
      counts: { total: 40, active: 0, done: 0, failed: 0 },
    },
    { name: "no-warm-up", warmup: { phase: "missing" } },
    { name: "partly", phase: "PartiallyFailed", finishedAt: "2026-11-20T08:00:00Z", counts: failed },
    { name: "failed", phase: "Failed", finishedAt: "2026-11-21T12:00:00Z", counts: { ...failed, done: 0 } },
    { name: "done", phase: "Succeeded", finishedAt: "2026-11-18T12:00:00Z", counts: { ...failed, failed: 0 } },
    { name: "gone", phase: "Unknown", jobGone: true, counts: { ...failed, failed: 0, done: 30 } },
    {
      name: "queued",
      phase: "Queued",
      startedAt: null,
      waiting: { code: "quota", reason: "Pending", message: "no gpu left", since: "2026-11-21T11:59:00Z" },
      counts: { total: 31, active: 0, done: 0, failed: 0 },
    },
    { name: "paused", phase: "Paused", counts: { total: 31, active: 0, done: 3, failed: 0 } },
  ]);
  await page.waitForFunction(() => document.querySelector(".figure")?.textContent?.includes("≥"));
  const times = async (name: string) =>
    (await cardOf(page, name).locator(".when time").evaluateAll((all) =>
      all.map((time) => [time.firstChild?.textContent, time.getAttribute("title")?.slice(0, 24)].join(" | "))
    )).join(" & ");
  assert.equal(
    await times("running"),
    "about 20 h left | Estimated end 22 Novembe & running for 29 h | Started 20 November 2026",
  );
  assert.match(await times("queued"), /^waiting for 31 min \| Waiting since 21 Novembe$/);
  assert.match(await times("failed"), /^ended 30 min ago \| .* & took 29 h/);
  assert.ok(await cardOf(page, "queued").getByText("Waits until its queue has quota left").isVisible());
  // Red is what a person must act on, and nothing else.
  const red = await page.locator("article.bad").evaluateAll((all) =>
    all.map((card) => (card as HTMLElement).dataset.campaign)
  );
  assert.deepEqual(red.map((name) => name?.split("/")[1]).toSorted(), [
    "failed",
    "no-warm-up",
    "partly",
    "warm-up-failed",
  ]);
  assert.equal(await cardOf(page, "running-with-failed").locator(".trouble").count(), 0);
  assert.match(
    await cardOf(page, "warm-up-failed").locator(".trouble").textContent() ?? "",
    /ran out of memory\. No volume starts before it succeeds: fix the cause/,
  );
  assert.deepEqual(await accessibilityFindings(page), []);
  for (const name of ["running", "partly", "gone"]) await openCard(page, name);
  await page.evaluate(() => scrollTo(0, 0));
  assert.deepEqual(await accessibilityFindings(page), []);
});

const QUEUED = { code: "queue", reason: "Pending", message: "2 campaigns are ahead", since: "2026-11-21T11:01:00Z" };

/** The widths of phones, a tablet and a desk, px. */
const WIDTHS = [320, 360, 390, 412, 768, 1280];

scenario("what the detail tells has its space before it is read, at every width", async ({ page, site }) => {
  let held = Promise.withResolvers<void>();
  await page.route(/\/api\/v1\/jobs\/[^/]+\//, async (route) => {
    await held.promise;
    const detail = await (await route.fetch()).json();
    const lastError = { page: "0006", error: "too dark", volume: "SE-1", logUrl: detail.resultsBase };
    await route.fulfill({ json: { ...detail, pagesFailed: 2, lastError } });
  });
  await openList({ page, site }, [
    { name: "running" },
    { name: "large", counts: { total: 8000, active: 9, done: 7000, failed: 40 } },
    { name: "partly", phase: "PartiallyFailed", counts: { total: 40, active: 0, done: 36, failed: 4 } },
    { name: "one-failed", phase: "PartiallyFailed", counts: { total: 40, active: 0, done: 39, failed: 1 } },
    { name: "kyrkobocker-vaxjo-1755", phase: "Succeeded", counts: { total: 40, active: 0, done: 40, failed: 0 } },
    {
      name: "paused",
      phase: "Paused",
      suspended: true,
      counts: { total: 20, active: 0, done: 10, failed: 0 },
      waiting: QUEUED,
    },
  ]);
  const boxes = () =>
    page.locator("article").evaluateAll((all) => all.map((card) => Math.round(card.getBoundingClientRect().height)));
  for (const width of WIDTHS) {
    // All cards are on screen, so all of them are read.
    await page.setViewportSize({ width, height: 4000 });
    held.resolve();
    held = Promise.withResolvers();
    await page.reload();
    await page.waitForSelector("[data-island=campaign_board][data-hydrated]");
    const before = await boxes();
    held.resolve();
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".figure")].every((figure) => / of .* pages/.test(figure.textContent ?? ""))
    );
    assert.deepEqual(await boxes(), before, `${width} px`);
  }
}, { timezoneId: "UTC" });

scenario("of 8,000 volumes the document has a few; all are searched, filtered and saved", async ({ page, site }) => {
  await openList({ page, site }, [LARGE]);
  const card = await openCard(page, LARGE.name);
  const rows = card.locator("tbody[data-chunk] tr");
  assert.equal(await rows.count(), 8);
  assert.ok(await elements(page) < MAX_ELEMENTS);
  // The failed ones come first, also those that their page of 200 does not hold.
  assert.equal(await card.locator(".chip", { hasText: /^failed$/ }).count(), 8);
  await card.getByRole("button", { name: /^Show the other/ }).click();
  await card.getByRole("button", { name: "Load 200 more of 7,800" }).waitFor();

  const reads = (await site.reads()).length;
  await card.getByRole("searchbox").fill("a1-7999");
  await card.locator("table[aria-rowcount='2']").waitFor();
  assert.equal(await rows.count(), 1);
  assert.equal((await site.reads()).length - reads, 8, "the rest is read in pages of 1,000");
  await card.getByRole("searchbox").fill("");
  await card.locator("table[aria-rowcount='8001']").waitFor();
  assert.ok(await elements(page) < MAX_ELEMENTS);
  const segments = await card.locator(".volume-segments .count").allTextContents();
  const [all, ...parts] = segments.map((text) => Number(text.replaceAll(",", "")));
  assert.equal(all, 8000);
  assert.equal(parts.reduce((sum, count) => sum + count, 0), all);

  // The rows near the screen are drawn wherever it is. The end moves once their heights are known.
  await page.waitForFunction(() => {
    scrollTo(0, document.documentElement.scrollHeight);
    return [...document.querySelectorAll("[role=rowheader]")].some((row) => row.textContent?.includes("-7999"));
  });
  assert.ok(await elements(page) < MAX_ELEMENTS);
  await page.evaluate(() => scrollTo(0, 0));

  const whole = await saved(page, card.getByRole("button", { name: /^Save the volumes shown/ }));
  assert.equal(whole.name, "stor-kampanj-volumes.csv");
  assert.equal(whole.rows.length, 8001);
  await card.getByLabel(/^Failed/).check();
  await card.locator("table[aria-rowcount='61']").waitFor();
});

scenario("the failed volumes are saved, also those that the detail does not name", async ({ page, site }) => {
  // A second file of one page is saved only within seconds of the click, so this page saves no other.
  await openList({ page, site }, [{ ...LARGE, counts: { total: 1000, active: 0, done: 940, failed: 60 } }]);
  const card = await openCard(page, LARGE.name);
  const failed = await saved(page, card.getByRole("button", { name: "Failed volumes as CSV" }));
  assert.equal(failed.name, "stor-kampanj-failed.csv");
  assert.equal(failed.rows.length, 61, "more than the 50 that the detail names");
  assert.match(failed.rows[1], /^SE-STOR--A1-0000,0,failed,188,191,3,/);
});

scenario("its own button prints it alone, with every volume and without the controls", async ({ page, site }) => {
  await page.addInitScript(() => globalThis.print = () => document.body.dataset.printed = "yes");
  await openList({ page, site }, [{ ...LARGE, counts: { total: 450, active: 0, done: 450, failed: 0 } }, {
    name: "other",
  }]);
  const card = await openCard(page, LARGE.name);
  await card.getByRole("button", { name: "Print this campaign" }).click();
  await page.locator("body[data-printed]").waitFor();
  await page.emulateMedia({ media: "print" });
  await card.locator("tbody[data-chunk] tr").nth(449).waitFor();
  assert.equal(await card.locator("tbody[data-chunk] tr").count(), 450);
  assert.ok(!await card.getByRole("searchbox").isVisible());
  const others = [cardOf(page, "other"), page.getByRole("heading", { level: 1 }), page.locator(".strip")];
  for (const other of others) assert.ok(!await other.isVisible());
  // What the reader prints by the browser's own command is the whole board.
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  for (const other of others) assert.ok(await other.isVisible());
  await page.emulateMedia({ media: "screen" });
  await page.waitForFunction(() => document.querySelectorAll("tbody[data-chunk] tr").length === 8);
});

scenario("keys alone open and filter it, and the focus stays while it is read again", async ({ page, site }) => {
  await openList({ page, site }, [{ name: "a", counts: { total: 20, active: 4, done: 16, failed: 0 } }]);
  await cardOf(page, "a").locator(".fold").focus();
  await page.keyboard.press("Enter");
  const card = cardOf(page, "a");
  await card.locator("tbody[data-chunk] tr").first().waitFor();
  const link = card.getByRole("link", { name: /^Run log of .*-0002$/ });
  await link.focus();
  const reads = (await site.reads()).length;
  await site.change({
    jobs: [{
      ...(await site.jobs())[0],
      counts: { total: 20, active: 1, done: 19, failed: 0 },
    }],
  });
  await page.clock.fastForward(61_000);
  await card.getByText("19 / 20").waitFor();
  assert.ok((await site.reads()).length > reads);
  assert.equal(
    await page.evaluate(() => document.activeElement?.getAttribute("aria-label")),
    "Run log of SE-A-A1-0002",
  );
  await card.getByLabel(/^Done/).focus();
  await page.keyboard.press("Space");
  await card.locator("tbody[data-chunk] .chip", { hasText: "active" }).first().waitFor({ state: "detached" });
  // Every row leads to its log; one of single images has no manifest, and says so.
  assert.equal(await card.getByRole("link", { name: /^Run log of/ }).count(), 8);
});

scenario("on a phone a volume is a block with all it has, and targets fit a thumb", async ({ page, site }) => {
  await openList({ page, site }, [
    { name: "a", counts: { total: 12, active: 2, done: 8, failed: 2 } },
    { name: "b", phase: "PartiallyFailed", counts: { total: 12, active: 0, done: 8, failed: 4 } },
  ]);
  const card = await openCard(page, "a");
  const first = card.locator("tbody[data-chunk] tr").first();
  for (const part of [".id a", ".state .chip", ".pages", ".say", ".quality"]) {
    assert.ok(await first.locator(part).isVisible(), part);
  }
  assert.equal(await first.locator(".go .file").count(), 2);
  await page.setViewportSize({ width: 320, height: 780 });
  const times = await card.locator(".timeline figcaption > time").evaluateAll((all) =>
    all.map((time) => {
      const text = new Range();
      text.selectNodeContents(time);
      return [...text.getClientRects()].map(({ top }) => top);
    })
  );
  assert.deepEqual(times, [[times[0][0]], [times[0][0]]]);
  await page.setViewportSize(PHONE.viewport);
  const print = await card.getByRole("button", { name: /^Print/ }).boundingBox();
  assert.equal(print?.height, TARGET);
  // The whole head of a card is the target of its name; links within sentences are no targets of their own.
  const controls = "article :is(a, button, label, input[type=search]):not(.fold, .folded a, .how a)";
  assert.deepEqual(await smallTargets(page.locator(controls)), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
  await page.evaluate(() => scrollTo(0, 0));
  assert.deepEqual(await accessibilityFindings(page), []);
}, { ...PHONE });

scenario("a search while the server is away says so, and goes on when it is back", async ({ page, site }) => {
  await openList({ page, site }, [LARGE]);
  const card = await openCard(page, LARGE.name);
  await site.change({ apiStatus: 502 });
  await card.getByRole("searchbox").fill("a1-7999");
  await card.getByText("Only 200 of 8,000 volumes could be read; the others are not searched.").waitFor();
  await site.change({ apiStatus: 200 });
  await card.getByRole("searchbox").fill("a1-799");
  await card.locator("table[aria-rowcount='9']").waitFor();
  await card.getByRole("rowheader", { name: /-7990$/ }).waitFor();
}, { expected: [/Failed to load resource/] });

scenario("code of an open card that cannot be loaded is said, and a new try brings it", async ({ page, site }) => {
  const code = "**/open_zones-*.js";
  await page.route(code, (route) => route.abort());
  await openList({ page, site }, [{ name: "a" }]);
  const card = cardOf(page, "a");
  await card.locator(".fold").click();
  await card.getByRole("alert").getByText("A script of this page could not be loaded.").waitFor();
  await page.unroute(code);
  await card.getByRole("button", { name: "Try again" }).click();
  await card.locator("tbody[data-chunk] tr").first().waitFor();
}, { expected: [/Failed to load resource/] });
