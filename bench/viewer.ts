/**
 * The manifest viewer in a browser, before the embedded archive: what a reader waits for. All figures are medians of
 * five. They depend on the machine, so a blank page and a fixed loop are measured beside them.
 */
import type { Browser, Page } from "playwright-core";
import { startServerProcess } from "./server_process.ts";
import { installProbe } from "@/bench/viewer/probe.ts";
import { launch } from "@/tests/browser/chromium.ts";
import { startFakeSite } from "@/tests/browser/site_server.ts";
import { ms, percentile } from "./latencies.ts";
import { table } from "./table.ts";

const TIMES = 5;
const VIEWPORT = { width: 1280, height: 800 };
/** How long a reader looks at a page before the next one, ms. */
const LOOK_MS = 1000;
/** The volume's texts are read while the reader idles, which takes its time. */
const INDEXED_MS = 300_000;
const SCROLLED_PX = 400;
const LOOP_ROUNDS = 20_000_000;

interface Scene {
  readonly browser: Browser;
  /** Of the site, with a trailing slash. */
  readonly site: string;
  readonly archive: string;
  readonly volumes: string;
}

/** A figure, and the most that it may be; without a bound it is for comparison. */
interface Row {
  readonly what: string;
  readonly most: number | null;
  readonly reached: number;
  readonly unit: "ms" | "kB" | "";
}

/** What the viewer takes until it shows pages, texts and hits. */
export async function measureViewer(): Promise<string> {
  const site = await startFakeSite();
  const server = await startServerProcess("bench/viewer/volume_server.ts", []);
  const browser = await launch();
  try {
    const scene = { browser, site: site.url, ...JSON.parse(server.line) };
    const rows = [
      ...await calibration(scene),
      ...await opening(scene),
      ...await leafing(scene),
      ...await thumbnails(scene),
      ...await search(scene),
      ...await scripts(scene),
    ];
    return table([["manifest viewer", "wanted", "reached", ""], ...rows.map(cells)]);
  } finally {
    await browser.close();
    await server.stop();
    await site.stop();
  }
}

/** What `bench/mod.ts` runs. */
export const viewerMeasures = [measureViewer];

function cells({ what, most, reached, unit }: Row): string[] {
  const figure = (value: number) =>
    unit === "ms" ? ms(value) : unit === "kB" ? `${value.toFixed(1)} kB` : value.toFixed(4);
  return [
    what,
    most === null ? "" : `≤ ${figure(most)}`,
    figure(reached),
    most !== null && reached > most ? "missed" : "",
  ];
}

/** Runs a measurement so many times, each on a fresh profile. */
async function times<T>(scene: Scene, measure: (page: Page) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < TIMES; n++) results.push(await onPage(scene, measure));
  return results;
}

async function onPage<T>({ browser }: Scene, measure: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  try {
    const page = await context.newPage();
    await page.addInitScript(installProbe);
    return await measure(page);
  } finally {
    await context.close();
  }
}

const median = (values: readonly number[]) => percentile(values, 0.5);

async function openVolume(page: Page, site: string, manifest: string, canvas = 0): Promise<void> {
  await page.goto(`${site}uv.html#?manifest=${encodeURIComponent(manifest)}&cv=${canvas}`, { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.probe?.painted.length > 0, null, { polling: "raf" });
}

async function calibration(scene: Scene): Promise<Row[]> {
  const blank = await times(scene, async (page) => {
    await page.goto(`${scene.volumes}/blank`);
    return await page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(resolve)));
  });
  const loop = await times(scene, (page) =>
    page.evaluate((rounds) => {
      const before = performance.now();
      let sum = 0;
      for (let n = 0; n < rounds; n++) sum = (sum * 31 + n) | 0;
      return performance.now() - before + (sum === 1 ? 1 : 0);
    }, LOOP_ROUNDS));
  return [
    { what: "blank page until its first frame", most: null, reached: median(blank), unit: "ms" },
    { what: `loop of ${LOOP_ROUNDS / 1e6} million rounds`, most: null, reached: median(loop), unit: "ms" },
  ];
}

async function opening(scene: Scene): Promise<Row[]> {
  let canvas = 100;
  const opened = await times(scene, async (page) => {
    // Another page each time, which the archive has not drawn yet.
    await openVolume(page, scene.site, `${scene.archive}/iiif/sample-2000-pages/manifest.json`, canvas += 10);
    const painted = await page.evaluate(() => globalThis.probe.painted[0]);
    await page.waitForTimeout(LOOK_MS);
    return { painted, shifted: await page.evaluate(() => globalThis.probe.shifted) };
  });
  return [
    { what: "first image painted", most: 1000, reached: median(opened.map(({ painted }) => painted)), unit: "ms" },
    { what: "layout shift until then", most: 0.02, reached: median(opened.map(({ shifted }) => shifted)), unit: "" },
  ];
}

/** Turns pages of 200 lines: until the image is there, and from then until its text is. */
async function leafing(scene: Scene): Promise<Row[]> {
  const turns = await onPage(scene, async (page) => {
    await openVolume(page, scene.site, `${scene.volumes}/dense/manifest.json`);
    await page.locator(".text-lines li").first().waitFor();
    const turns: { image: number; text: number }[] = [];
    for (let n = 1; n <= TIMES; n++) {
      await page.waitForTimeout(LOOK_MS);
      turns.push(
        await page.evaluate((word) =>
          new Promise<{ image: number; text: number }>((resolve) => {
            const { probe } = globalThis;
            probe.painted.length = 0;
            const startedAt = performance.now();
            dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
            let text = NaN;
            const look = (now: number) => {
              const isThere = document.querySelector(".text-lines li")?.textContent?.includes(word);
              if (Number.isNaN(text) && isThere) text = now;
              const [image] = probe.painted;
              if (image === undefined || Number.isNaN(text)) requestAnimationFrame(look);
              else resolve({ image: image - startedAt, text: Math.max(0, text - image) });
            };
            requestAnimationFrame(look);
          }), `sida${n} `),
      );
    }
    return turns;
  });
  return [
    { what: "next page painted", most: 200, reached: median(turns.map(({ image }) => image)), unit: "ms" },
    { what: "its text of 200 lines after it", most: 150, reached: median(turns.map(({ text }) => text)), unit: "ms" },
  ];
}

/** Scrolls the thumbnails of 2,000 pages from the first to the last, a step in each frame. */
async function thumbnails(scene: Scene): Promise<Row[]> {
  const longest = await times(scene, async (page) => {
    await openVolume(page, scene.site, `${scene.archive}/iiif/sample-2000-pages/manifest.json`);
    await page.locator(".thumb img").first().waitFor();
    await page.waitForTimeout(LOOK_MS);
    await page.evaluate((step) => {
      globalThis.probe.longTasks.length = 0;
      return new Promise<void>((resolve) => {
        const list = document.querySelector(".thumbs");
        const scroll = () => {
          const before = list?.scrollTop ?? 0;
          list?.scrollBy({ top: step, behavior: "instant" });
          if (list && list.scrollTop > before) requestAnimationFrame(scroll);
          else resolve();
        };
        requestAnimationFrame(scroll);
      });
    }, SCROLLED_PX);
    await page.waitForTimeout(LOOK_MS);
    return await page.evaluate(() => Math.max(0, ...globalThis.probe.longTasks));
  });
  const what = "2,000 thumbnails scrolled: longest task, 0 if below 50 ms";
  return [{ what, most: 50, reached: median(longest), unit: "ms" }];
}

async function search(scene: Scene): Promise<Row[]> {
  const found = await onPage(scene, async (page) => {
    await openVolume(page, scene.site, `${scene.volumes}/long/manifest.json`);
    const field = page.getByRole("searchbox");
    await field.focus();
    await field.fill("sida");
    await page.getByText("2,000 pages searched.").waitFor({ timeout: INDEXED_MS });
    const durations: number[] = [];
    for (const query of ["Häggeby", "gärdesgården vid", "sida1999", "intygades", "hafver sagt"]) {
      await field.fill("");
      await page.locator(".hits").waitFor({ state: "detached" });
      await page.waitForTimeout(LOOK_MS);
      durations.push(
        await page.evaluate((query) =>
          new Promise<number>((resolve) => {
            const input = document.querySelector<HTMLInputElement>("input[type=search]");
            const startedAt = performance.now();
            if (input) input.value = query;
            input?.dispatchEvent(new InputEvent("input", { bubbles: true }));
            const look = (now: number) => {
              if (document.querySelector(".hits mark")) resolve(now - startedAt);
              else requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
          }), query),
      );
    }
    return durations;
  });
  return [{ what: "first hits in 2,000 indexed pages", most: 1000, reached: median(found), unit: "ms" }];
}

/** The scripts of the viewer's page, compressed, and how many of its own another page loads. */
async function scripts(scene: Scene): Promise<Row[]> {
  const viewer = await scriptsOf(
    scene,
    `uv.html#?manifest=${encodeURIComponent(`${scene.volumes}/dense/manifest.json`)}`,
  );
  const own = [...viewer].filter(([, text]) => VIEWER_MARKS.test(text)).map(([url]) => url);
  const others = (await Promise.all(["login", "", "log", "alto", "docs"].map((path) => scriptsOf(scene, path))))
    .flatMap((scripts) => [...scripts.keys()]);
  const sizes = await Promise.all([...viewer.values()].map(gzippedBytes));
  return [
    {
      what: "JavaScript of the viewer's page, compressed",
      most: 160,
      reached: sizes.reduce((sum, size) => sum + size, 0) / 1000,
      unit: "kB",
    },
    {
      what: `of the viewer's ${own.length} files, those that other pages load`,
      most: 0,
      reached: own.filter((url) => others.includes(url)).length,
      unit: "",
    },
  ];
}

/** In the code of the viewer and of its image library alone. */
const VIEWER_MARKS = /openseadragon-canvas|Opening the manifest/;

/** The scripts that a page loads, by their addresses. */
async function scriptsOf(scene: Scene, path: string): Promise<ReadonlyMap<string, string>> {
  const urls = await onPage(scene, async (page) => {
    const urls = new Set<string>();
    page.on("request", (request) => {
      if (request.resourceType() === "script") urls.add(request.url());
    });
    await page.goto(scene.site + path);
    await page.waitForTimeout(LOOK_MS);
    return urls;
  });
  return new Map(await Promise.all([...urls].map(async (url) => [url, await (await fetch(url)).text()] as const)));
}

async function gzippedBytes(text: string): Promise<number> {
  return (await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).bytes()).length;
}
