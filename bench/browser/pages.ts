import type { Browser, Page } from "playwright-core";

import { ms, percentile, table } from "@/bench/table.ts";
import { installProbe } from "./probe.ts";

export const TIMES = 5;
/** How long a reader looks at a page before the next one, ms. */
export const LOOK_MS = 1000;
const VIEWPORT = { width: 1280, height: 800 };
const LOOP_ROUNDS = 20_000_000;

/** A figure, and the most that it may be; without a bound it is for comparison. */
export interface Row {
  readonly what: string;
  readonly most: number | null;
  readonly reached: number;
  readonly unit: "ms" | "kB" | "" | "nodes";
}

/** The table of a part. */
export function figures(part: string, rows: readonly Row[]): string {
  return table([[part, "measured", "to reach", "reached"], ...rows.map(cells)]);
}

function cells({ what, most, reached, unit }: Row): string[] {
  const figure = (value: number) => {
    if (unit === "ms") return ms(value);
    if (unit === "kB") return `${value.toFixed(1)} kB`;
    return unit === "nodes" ? String(value) : value.toFixed(4);
  };
  return [
    what,
    figure(reached),
    most === null ? "" : `≤ ${figure(most)}`,
    most === null ? "" : reached > most ? "NO" : "yes",
  ];
}

/** Runs a measurement so many times, each on a fresh profile. */
export async function times<T>(browser: Browser, measure: (page: Page) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < TIMES; n++) results.push(await onPage(browser, measure));
  return results;
}

/** Runs a measurement on a fresh profile. */
export async function onPage<T>(browser: Browser, measure: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  try {
    const page = await context.newPage();
    await page.addInitScript(installProbe);
    return await measure(page);
  } finally {
    await context.close();
  }
}

export const median = (values: readonly number[]) => percentile(values, 0.5);

/**
 * Times of an empty page and of a fixed loop on this machine.
 *
 * @param blank the address of such a page
 */
export async function calibration(browser: Browser, blank: string): Promise<Row[]> {
  const frames = await times(browser, async (page) => {
    await page.goto(blank);
    return await page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(resolve)));
  });
  const loops = await times(browser, (page) =>
    page.evaluate((rounds) => {
      const before = performance.now();
      let sum = 0;
      for (let n = 0; n < rounds; n++) sum = (sum * 31 + n) | 0;
      return performance.now() - before + (sum === 1 ? 1 : 0);
    }, LOOP_ROUNDS));
  return [
    { what: "blank page until its first frame", most: null, reached: median(frames), unit: "ms" },
    { what: `loop of ${LOOP_ROUNDS / 1e6} million rounds`, most: null, reached: median(loops), unit: "ms" },
  ];
}

/** The scripts that a page loads, by their addresses. */
export async function scriptsOf(browser: Browser, url: string): Promise<ReadonlyMap<string, string>> {
  const urls = await onPage(browser, async (page) => {
    const urls = new Set<string>();
    page.on("request", (request) => {
      if (request.resourceType() === "script") urls.add(request.url());
    });
    await page.goto(url);
    await page.waitForTimeout(LOOK_MS);
    return urls;
  });
  return new Map(await Promise.all([...urls].map(async (url) => [url, await (await fetch(url)).text()] as const)));
}

/** The size of scripts when they are compressed, kB. */
export async function compressedKilobytes(scripts: ReadonlyMap<string, string>): Promise<number> {
  const sizes = await Promise.all([...scripts.values()].map(gzippedBytes));
  return sizes.reduce((sum, size) => sum + size, 0) / 1000;
}

async function gzippedBytes(text: string): Promise<number> {
  return (await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes()).length;
}
