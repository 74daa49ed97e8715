/** The page of a run log in a browser: a log of 40,000 lines, with requests, warnings and errors. Medians of five. */
import type { Browser, Page } from "playwright-core";

import { launch } from "@/tests/browser/chromium.ts";
import { logPath } from "@/tests/browser/site_fixture.ts";
import { type FakeSite, startFakeSite } from "@/tests/browser/site_server.ts";
import {
  calibration,
  compressedKilobytes,
  figures,
  LOOK_MS,
  median,
  onPage,
  type Row,
  scriptsOf,
  times,
} from "@/bench/browser/pages.ts";

const LINES = 40_000;

async function measureLogPage(): Promise<string> {
  const site = await startFakeSite();
  const browser = await launch();
  try {
    await site.change({ log: sampleLog(), files: {} });
    const rows = [
      ...await calibration(browser, `${site.url}config.js`),
      ...await opening(browser, site),
      ...await searching(browser, site),
      ...await scripts(browser, site),
    ];
    return figures(`log of ${LINES} lines`, rows);
  } finally {
    await browser.close();
    await site.stop();
  }
}

/** The measures that `bench/mod.ts` runs. */
export const logPageMeasures = [measureLogPage];

function sampleLog(): string {
  const lines = ["INFO [v] 9000 pages in manifest", "INFO resume: 0 done, 9000 to process", "INFO running inference"];
  while (lines.length < LINES) {
    const n = lines.length;
    const ordinary = n % 8 < 4 ? `INFO page ${n} read` : 'INFO HTTP Request: "HTTP/2 200"';
    lines.push(n % 1000 === 0 ? `WARNING page ${n} slow` : ordinary);
  }
  const instant = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 100).toISOString();
  return lines.map((line, n) => `${instant(n).slice(0, 23).replace("T", " ").replace(".", ",")} ${line}`).join("\n");
}

/** Opens the log without following it, and waits for its first row. */
async function openLog(page: Page, site: FakeSite): Promise<void> {
  await page.context().addCookies([{ name: "fake_session", value: "bench", url: site.url }]);
  await page.goto(site.url + logPath(site).replace("&live=1", ""), { waitUntil: "commit" });
  await page.locator(".line").first().waitFor();
}

async function opening(browser: Browser, site: FakeSite): Promise<Row[]> {
  const opened = await times(browser, async (page) => {
    await page.addInitScript(() => {
      const look = (now: number) => {
        if (document.querySelector(".line")) performance.mark("first line", { startTime: now });
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await openLog(page, site);
    await page.waitForTimeout(LOOK_MS);
    return await page.evaluate(() => {
      const log = performance.getEntriesByType("resource").find(({ name }) => name.endsWith(".txt"));
      const walker = document.createTreeWalker(document);
      let nodes = 0;
      while (walker.nextNode()) nodes++;
      return {
        lines: performance.getEntriesByName("first line")[0].startTime -
          (log instanceof PerformanceResourceTiming ? log.responseEnd : NaN),
        longest: Math.max(0, ...globalThis.probe.longTasks),
        shifted: globalThis.probe.shifted,
        nodes,
      };
    });
  });
  return [
    { what: "first lines after the text", most: 300, reached: median(opened.map(({ lines }) => lines)), unit: "ms" },
    {
      what: "longest task, 0 if below 50 ms",
      most: 100,
      reached: median(opened.map(({ longest }) => longest)),
      unit: "ms",
    },
    { what: "layout shift", most: 0.02, reached: median(opened.map(({ shifted }) => shifted)), unit: "" },
    { what: "elements and texts", most: 5000, reached: median(opened.map(({ nodes }) => nodes)), unit: "nodes" },
  ];
}

async function searching(browser: Browser, site: FakeSite): Promise<Row[]> {
  const found = await onPage(browser, async (page) => {
    await openLog(page, site);
    await page.waitForTimeout(LOOK_MS);
    await page.evaluate(() => globalThis.probe.longTasks.length = 0);
    const durations: number[] = [];
    for (const query of ["slow", "page 3", "nothing", "08:20", "HTTP"]) {
      await page.waitForTimeout(LOOK_MS);
      durations.push(
        await page.evaluate((query) =>
          new Promise<number>((resolve) => {
            const input = document.querySelector<HTMLInputElement>("input[type=search]");
            const output = document.querySelector("output");
            const startedAt = performance.now();
            const before = output?.textContent;
            if (input) input.value = query;
            input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
            const look = (now: number) => {
              if (output?.textContent !== before) resolve(now - startedAt);
              else requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
          }), query),
      );
    }
    return { durations, longest: await page.evaluate(() => Math.max(0, ...globalThis.probe.longTasks)) };
  });
  return [
    { what: "search in all lines", most: 200, reached: median(found.durations), unit: "ms" },
    { what: "its longest task, 0 if below 50 ms", most: 100, reached: found.longest, unit: "ms" },
  ];
}

async function scripts(browser: Browser, site: FakeSite): Promise<Row[]> {
  const reached = await compressedKilobytes(await scriptsOf(browser, site.url + logPath(site)));
  return [{ what: "JavaScript of the page, compressed", most: 40, reached, unit: "kB" }];
}
