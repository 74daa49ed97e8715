import assert from "node:assert/strict";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";

import { sharedByFile } from "@/tests/shared_by_file.ts";
import { onFreshPage } from "./shared_browser.ts";
import { type FakeSite, startFakeSite } from "./site_server.ts";

declare global {
  /** Sum of the page's layout shifts. */
  var shifted: number;
}

/** A page, the site it is on, and what it complained of. */
export interface Visit {
  readonly page: Page;
  readonly site: FakeSite;
}

const sharedSite = sharedByFile(startFakeSite, (site) => site.stop());

/** How a scenario differs from the others of its subject. */
interface Differences extends BrowserContextOptions {
  /** Texts of console errors that belong to the scenario. */
  readonly expected?: readonly RegExp[];
}

/**
 * Declares tests of a subject. Each runs on a fresh browser profile and the site of the file, which serves the samples
 * again and is the base of relative addresses. Errors of the page, and requests that a policy refuses, fail the test.
 */
export function siteScenarios(subject: string, defaults: BrowserContextOptions = {}) {
  return (name: string, run: (visit: Visit) => Promise<void>, { expected, ...options }: Differences = {}) =>
    Deno.test(`${subject}: ${name}`, async () => {
      const site = await sharedSite();
      await site.reset();
      await onFreshPage({ baseURL: site.url, ...defaults, ...options }, (page) => run({ page, site }), expected);
    });
}

/** Goes to a page with a session, and waits until its islands are awake. */
export async function open(page: Page, path = "", island = "campaign_board"): Promise<void> {
  const { url } = await sharedSite();
  await startSession(page, `${url}results/_login`);
  await page.goto(path);
  await page.waitForSelector(`[data-island=${island}][data-hydrated]`);
}

/** Opens the page of an ALTO file of a volume without a manifest. */
export async function openAlto({ page, site }: Visit, alto: string): Promise<void> {
  await site.change({ files: { "/alto/0004.xml": alto, "/iiif.json": {} } });
  await open(page, altoViewerPath(site), "alto_viewer");
}

/** Opens the log of a run that is over, with the summary of so many pages. */
export async function openRun({ page, site }: Visit, pages: number): Promise<void> {
  await site.change({ files: { "/manifest.json": sampleRunManifest(site, pages) } });
  await open(page, runPath(site), "run_viewer");
}

/** Opens a log of a run that is over. */
export async function openLog({ page, site }: Visit, log: string): Promise<void> {
  await site.change({ log });
  await open(page, logPath(site).replace("&live=1", ""), "run_viewer");
}

/** Waits until all islands of the page are awake: each loads its code by itself. */
export async function awake(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector("[data-island]:not([data-hydrated])"));
}

/** Sends what the form of the login page sends, so that only tests of that page wait for it. @param action its address */
export async function startSession(page: Page, action: string, username = "åsa"): Promise<void> {
  const form = { username, password: "stackroom-demo", next: "/" };
  const { origin } = new URL(action);
  const response = await page.request.post(action, { form, headers: { origin }, maxRedirects: 0 });
  assert.equal(response.status(), 303);
}

/** Logs in on the login page, and waits until the page that follows has been loaded. */
export async function logIn(page: Page, username = "åsa"): Promise<void> {
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", "stackroom-demo");
  await follow(page, page.locator("[type=submit].primary"));
}

/**
 * Clicks what leads to another page, and waits until that page has been loaded. A click alone waits for its first bytes
 * only, so that elements could be counted before all of them are there.
 */
export async function follow(page: Page, link: Locator): Promise<void> {
  await Promise.all([page.waitForEvent("load"), link.click()]);
}

/** Adds up the layout shifts of the pages that are opened from now on, without those that the reader caused. */
export async function countShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    globalThis.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const isCaused = "hadRecentInput" in entry && entry.hadRecentInput;
        if ("value" in entry && !isCaused) globalThis.shifted += Number(entry.value);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The address of a run log's page with the summary of the run's manifest, of a run that is over. */
export function runPath(site: FakeSite): string {
  const manifest = `${site.url}results/batch-default/p/SE-G%C3%96T-1/manifest.json`;
  return `${logPath(site).replace("&live=1", "")}&manifest=${encodeURIComponent(manifest)}`;
}

/** A manifest.json of so many pages: some lost, some read by an earlier run, with qualities of all steps. */
export function sampleRunManifest(site: FakeSite, count: number): unknown {
  const results = Array.from({ length: count }, (_, n) => {
    const status = n % 23 === 7 ? "failed" : n % 40 === 3 ? "skipped" : "ok";
    const quality = status === "failed" ? undefined : 0.5 + (n * 37 % 50) / 100;
    const error = status === "failed" ? "ValueError: sidan är tom <img src=x onerror=alert(1)>" : undefined;
    return [String(n + 1).padStart(4, "0"), { status, seconds: 2 + (n * 29 % 83) / 10, quality, error }];
  });
  return {
    pages: count,
    results: Object.fromEntries(results),
    page_sources: { "0001": `${site.url}image/1.png` },
    wall_seconds: 912.4,
    viewer_url: `${site.url}results/batch-default/p/SE-G%C3%96T-1/iiif.json`,
  };
}

/** The address of a run log's page. */
export function logPath(site: FakeSite): string {
  return `log?log=${encodeURIComponent(`${site.url}results/batch-default/status/logs/p/SE-G%C3%96T-1.txt`)}&live=1`;
}

/** The address of a page's text. */
export function altoSource(site: FakeSite): string {
  return `${site.url}results/batch-default/p/SE-G%C3%96T-1/alto/0004.xml`;
}

/** The address of the viewer of that page. */
export function altoViewerPath(site: FakeSite): string {
  return `alto?src=${encodeURIComponent(altoSource(site))}`;
}

/** ALTO of so many lines in blocks of ten, with confidences of all steps, and one line of hostile text. */
export function sampleAlto(lines: number): string {
  const words = "Anno 1720 den 3 Maij hölts Laga Ting med Allmogen af Sollentuna Härad".split(" ");
  const line = (n: number) => {
    const wc = n % 9 === 8 ? "" : ` WC="${(1 - n * 7 % 50 / 100).toFixed(2)}"`;
    const strings = words.slice(0, 4 + n % 9).map((word) => `<String CONTENT="${word}"${wc}/>`);
    return `<TextLine ID="l${n}">${strings.join("<SP/>")}</TextLine>`;
  };
  const blocks = Array.from({ length: Math.ceil(lines / 10) }, (_, block) => {
    const count = Math.min(10, lines - block * 10);
    return `<TextBlock ID="b${block}">${
      Array.from({ length: count }, (_, n) => line(block * 10 + n)).join("")
    }</TextBlock>`;
  });
  const hostile =
    `<TextBlock><TextLine><String CONTENT="&lt;img src=x onerror=alert(1)&gt;" WC="0.95"/></TextLine></TextBlock>`;
  return `<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout>
    <Page ID="p" PHYSICAL_IMG_NR="4" PC="0.87"><PrintSpace>${hostile}${
    blocks.join("\n")
  }</PrintSpace></Page></Layout></alto>`;
}
