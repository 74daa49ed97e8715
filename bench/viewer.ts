/**
 * The manifest viewer in a browser, before the embedded archive: what a reader waits for. All figures are medians of
 * five. They depend on the machine, so a blank page and a fixed loop are measured beside them.
 */
import type { Browser, Page } from "playwright-core";
import {
  calibration,
  compressedKilobytes,
  figures,
  LOOK_MS,
  median,
  onPage,
  type Row,
  scriptsOf,
  TIMES,
  times,
} from "@/bench/browser/pages.ts";
import { startServerProcess } from "./server_process.ts";
import { launch } from "@/tests/browser/chromium.ts";
import { startFakeSite } from "@/tests/browser/site_server.ts";

/** The volume's texts are read while the reader idles, which takes its time. */
const INDEXED_MS = 300_000;
const SCROLLED_PX = 400;

interface Scene {
  readonly browser: Browser;
  /** Base URL of the site, with a trailing slash. */
  readonly site: string;
  readonly archive: string;
  readonly volumes: string;
}

/** Times until the viewer shows pages, texts and hits. */
export async function measureViewer(): Promise<string> {
  const site = await startFakeSite();
  const server = await startServerProcess("bench/viewer/volume_server.ts", []);
  const browser = await launch();
  try {
    const scene = { browser, site: site.url, ...JSON.parse(server.line) };
    const rows = [
      ...await calibration(browser, `${scene.volumes}/blank`),
      ...await opening(scene),
      ...await leafing(scene),
      ...await thumbnails(scene),
      ...await search(scene),
      ...await scripts(scene),
    ];
    return figures("manifest viewer", rows);
  } finally {
    await browser.close();
    await server.stop();
    await site.stop();
  }
}

/** The measures that `bench/mod.ts` runs. */
export const viewerMeasures = [measureViewer];

async function openVolume(page: Page, site: string, manifest: string, canvas = 0): Promise<void> {
  await page.goto(`${site}uv.html#?manifest=${encodeURIComponent(manifest)}&cv=${canvas}`, { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.probe?.painted.length > 0, null, { polling: "raf" });
}

async function opening(scene: Scene): Promise<Row[]> {
  let canvas = 100;
  const opened = await times(scene.browser, async (page) => {
    // Another page each time, whose image no earlier one has loaded.
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
  const turns = await onPage(scene.browser, async (page) => {
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
  const longest = await times(scene.browser, async (page) => {
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
  const found = await onPage(scene.browser, async (page) => {
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
    scene.browser,
    `${scene.site}uv.html#?manifest=${encodeURIComponent(`${scene.volumes}/dense/manifest.json`)}`,
  );
  const own = [...viewer].filter(([, text]) => VIEWER_MARKS.test(text)).map(([url]) => url);
  const others =
    (await Promise.all(["login", "", "log", "alto", "docs"].map((path) => scriptsOf(scene.browser, scene.site + path))))
      .flatMap((scripts) => [...scripts.keys()]);
  return [
    {
      what: "JavaScript of the viewer's page, compressed",
      most: 160,
      reached: await compressedKilobytes(viewer),
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
