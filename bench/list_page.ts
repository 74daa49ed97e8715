/**
 * The page of the list in a browser: 1,000 live campaigns of 8,000 volumes, and 20 of 1,000 whose Job is gone. Medians of five.
 */
import type { Browser, Page } from "playwright-core";

import { launch } from "@/tests/browser/chromium.ts";
import { type FakeSite, startFakeSite } from "@/tests/browser/site_server.ts";
import { calibration, figures, LOOK_MS, median, type Row, times } from "@/bench/browser/pages.ts";

const LIVE = 1000;
const REAPED = 1000;
const REAPED_LISTED = 20;
const VOLUMES = 8000;

async function measureListPage(): Promise<string> {
  const site = await startFakeSite();
  const browser = await launch();
  try {
    await serveMany(site);
    const rows = [
      ...await calibration(browser, `${site.url}config.js`),
      ...await opening(browser, site),
      ...await card(browser, site),
    ];
    return figures(`list of ${LIVE} campaigns of ${VOLUMES} volumes`, rows);
  } finally {
    await browser.close();
    await site.stop();
  }
}

/** The measures that `bench/mod.ts` runs. */
export const listPageMeasures = [measureListPage];

async function serveMany(site: FakeSite): Promise<void> {
  const { jobs } = await (await fetch(`${site.url}_test`)).json();
  const many = Array.from({ length: LIVE + REAPED_LISTED }, (_, i) => ({
    ...jobs[i % jobs.length],
    name: `k${i}-${jobs[i % jobs.length].name}`,
    counts: { total: VOLUMES, active: 20, done: VOLUMES / 2, failed: 0 },
    jobGone: i >= LIVE,
  }));
  await site.change({ jobs: many, reapedTotal: REAPED });
}

/** Opens the list, and waits until all its campaigns are there. */
async function openList(page: Page, site: FakeSite): Promise<void> {
  await page.context().addCookies([{ name: "fake_session", value: "bench", url: site.url }]);
  await page.goto(site.url);
  await page.getByText("1,020 shown of").waitFor();
  await page.waitForTimeout(LOOK_MS);
}

async function opening(browser: Browser, site: FakeSite): Promise<Row[]> {
  const opened = await times(browser, async (page) => {
    await openList(page, site);
    return {
      ...await page.evaluate(() => {
        const [entry] = performance.getEntriesByType("navigation");
        return {
          sent: entry instanceof PerformanceNavigationTiming ? entry.encodedBodySize / 1000 : NaN,
          painted: performance.getEntriesByName("first-contentful-paint")[0].startTime,
          shifted: globalThis.probe.shifted,
        };
      }),
      ...await cost(page),
    };
  });
  return [
    { what: "HTML, compressed", most: 100, reached: median(opened.map(({ sent }) => sent)), unit: "kB" },
    { what: "first paint", most: 600, reached: median(opened.map(({ painted }) => painted)), unit: "ms" },
    { what: LONGEST, most: 100, reached: median(opened.map(({ longest }) => longest)), unit: "ms" },
    { what: "layout shift", most: 0.02, reached: median(opened.map(({ shifted }) => shifted)), unit: "" },
    { what: "elements and texts", most: 5000, reached: median(opened.map(({ nodes }) => nodes)), unit: "nodes" },
  ];
}

const LONGEST = "longest task, 0 if below 50 ms";

/** A card is opened, its volumes are all read by a search in them, and the search is cleared. */
async function card(browser: Browser, site: FakeSite): Promise<Row[]> {
  const found = await times(browser, async (page) => {
    await openList(page, site);
    const card = page.locator("article").first();
    const step = async (act: () => Promise<void>) => {
      await page.evaluate(() => globalThis.probe.longTasks.length = 0);
      await act();
      await page.waitForTimeout(LOOK_MS);
      return await cost(page);
    };
    const opened = await step(async () => {
      await card.locator(".fold").click();
      await card.locator("tbody[data-chunk] tr").first().waitFor();
    });
    await step(async () => {
      await card.locator("input[type=search]").fill("1999");
      await page.waitForFunction(() => document.querySelectorAll("tbody[data-chunk] tr").length === 1);
    });
    const cleared = await step(async () => {
      await card.locator("input[type=search]").fill("");
      await page.waitForFunction(() => document.querySelectorAll("tbody[data-chunk] tr").length > 1);
    });
    return { opened, cleared };
  });
  const longest = (step: "opened" | "cleared") => median(found.map((one) => one[step].longest));
  const nodes = Math.max(...found.flatMap(({ opened, cleared }) => [opened.nodes, cleared.nodes]));
  return [
    { what: "longest task of opening a card", most: 150, reached: longest("opened"), unit: "ms" },
    { what: "longest task of clearing its search", most: 150, reached: longest("cleared"), unit: "ms" },
    { what: "elements and texts, at most", most: 5000, reached: nodes, unit: "nodes" },
  ];
}

/** The longest task since the tasks were forgotten last, and how much the document holds. */
function cost(page: Page): Promise<{ longest: number; nodes: number }> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document);
    let nodes = 0;
    while (walker.nextNode()) nodes++;
    return { longest: Math.max(0, ...globalThis.probe.longTasks), nodes };
  });
}
