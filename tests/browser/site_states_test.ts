import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { accessibilityFindings, colourFindings } from "./accessibility.ts";
import { idleControls, paperFindings, tooNarrowWindows, withoutOutline } from "./page_states.ts";
import {
  altoSource,
  altoViewerPath,
  awake,
  logIn,
  logPath,
  open,
  runPath,
  sampleAlto,
  sampleRunManifest,
  siteScenarios,
  type Visit,
} from "./site_fixture.ts";
import { openViewer, serve } from "./viewer_volume.ts";

const scenario = siteScenarios("states", { viewport: { width: 1280, height: 900 }, reducedMotion: "reduce" });

/** A page of the site in one of its states. */
interface State {
  readonly name: string;
  /** Leads there from any other. */
  readonly show: (visit: Visit) => Promise<void>;
}

const ALTO = { "/alto/0004.xml": sampleAlto(40), "/iiif.json": {} };

/** Goes to an address, also where only its fragment differs from that of the page before. */
async function go(page: Page, path: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(path);
  await awake(page);
}

const STATES: readonly State[] = [
  { name: "login", show: ({ page }) => go(page, "login") },
  { name: "login that failed", show: ({ page }) => go(page, "login?error=401") },
  { name: "unknown address", show: ({ page }) => go(page, "nowhere") },
  { name: "refused address", show: ({ page }) => go(page, "log?log=https%3A%2F%2Fevil.example%2Fa.txt") },
  {
    name: "list, with open cards",
    show: async ({ page }) => {
      await go(page, "");
      for (const name of ["göteborgs-domkapitel-1790", "rådhusrätten-part2"]) await page.click(`text=${name}`);
      await page.locator(".volumes .vid").nth(15).waitFor();
    },
  },
  { name: "list without a match", show: ({ page }) => go(page, "?q=nothing") },
  {
    name: "log that goes on",
    show: async ({ page, site }) => {
      await go(page, logPath(site));
      await page.locator(".line").first().waitFor({ state: "attached" });
    },
  },
  {
    name: "log with the summary of its run, all unfolded, and a search",
    show: async ({ page, site }) => {
      await site.change({ files: { "/manifest.json": sampleRunManifest(site, 60) } });
      await go(page, runPath(site));
      await page.getByRole("button", { name: "Unfold all" }).click();
      await page.getByRole("searchbox").fill("page");
      await page.locator(".page-grid a").first().waitFor({ state: "attached" });
      const summary = page.getByRole("button", { name: "Summary of the pages" });
      if (await summary.isVisible()) await summary.click();
      await page.click("text=Pages as a table");
    },
  },
  {
    name: "log that waits for its first lines",
    show: async ({ page, site }) => {
      await site.change({ files: { ".txt": 404 } });
      await go(page, `${runPath(site)}&live=1`);
      await page.getByText("waiting for its first lines").waitFor();
    },
  },
  {
    name: "log that cannot be read",
    show: async ({ page, site }) => {
      await site.change({ files: { ".txt": 500, "/manifest.json": 500 } });
      await go(page, runPath(site));
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "text of a page",
    show: async ({ page, site }) => {
      await site.change({ files: ALTO });
      await go(page, altoViewerPath(site));
      await page.locator(".text-line").first().waitFor();
    },
  },
  {
    name: "file of a page",
    show: async ({ page, site }) => {
      await site.change({ files: ALTO });
      await go(page, altoViewerPath(site));
      await page.getByRole("button", { name: "Show XML", disabled: false }).click();
      await page.locator(".printed").waitFor();
    },
  },
  {
    name: "text that is not there",
    show: async ({ page, site }) => {
      await site.change({ files: { "/alto/0004.xml": 404 } });
      await go(page, altoViewerPath(site));
      await page.getByRole("alert").waitFor();
    },
  },
  { name: "viewer without a manifest", show: ({ page }) => go(page, "uv.html") },
  {
    name: "viewer",
    show: async ({ page }) => {
      await openViewer(page);
      await page.locator(".text-lines li").first().waitFor({ state: "attached" });
      await page.getByRole("searchbox").fill("Växjö");
      await page.locator(".hits button").first().waitFor();
    },
  },
  {
    name: "viewer with its drawer",
    show: async ({ page }) => {
      await openViewer(page);
      await page.locator(".drawer").waitFor({ state: "attached" });
      await page.getByRole("button", { name: "About this volume" }).filter({ visible: true }).click();
      await page.locator(".drawer .links").first().waitFor();
    },
  },
];

/** States whose panels stand side by side; site_viewer_test and site_phone_test have them on a phone. */
const SIDE_BY_SIDE = new Set(["viewer", "viewer with its drawer"]);

/** What the browser says of files that are not there, as the states want it. */
const EXPECTED = [/40[04]/, /500/];

scenario("every page is accessible in each look, fits its windows and its paper, and does not move", async (visit) => {
  const { page } = visit;
  await open(page);
  await serve(page, { pages: 3 });
  const found: string[] = [];
  for (const { name, show } of STATES) {
    const add = (look: string, findings: readonly string[]) => {
      for (const finding of findings) found.push(`${name}, ${look}: ${finding}`);
    };
    await show(visit);
    await page.evaluate(() => scrollTo(0, 0));
    if (await page.evaluate(() => document.getAnimations().length) > 0) found.push(`${name}: moves`);
    add("light", await accessibilityFindings(page));
    await page.emulateMedia({ colorScheme: "dark" });
    add("dark", await colourFindings(page));
    await page.emulateMedia({ forcedColors: "active", colorScheme: "light" });
    add("forced colours", [...await colourFindings(page), ...await withoutOutline(page)]);
    await page.emulateMedia({ forcedColors: "none" });
    for (const narrow of await tooNarrowWindows(page)) found.push(`${name}: wider than ${narrow} px`);
    if (!SIDE_BY_SIDE.has(name)) {
      await page.setViewportSize({ width: 390, height: 900 });
      await page.emulateMedia({ colorScheme: "dark" });
      add("390 px, dark", await accessibilityFindings(page));
    }
    await page.setViewportSize({ width: 794, height: 1123 });
    await page.emulateMedia({ colorScheme: "dark" });
    add("paper", await paperFindings(page));
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  }
  assert.deepEqual(found, []);
}, { viewport: { width: 1280, height: 900 }, expected: EXPECTED });

scenario("without scripts no page says that it reads, or offers an idle control", async ({ page, site }) => {
  await page.goto("login");
  await logIn(page);
  const offers: readonly (readonly [path: string, offer: RegExp])[] = [
    ["login", /Log in/],
    ["nowhere", /no page at this address/],
    ["", /svea-hovratt-1870/],
    ["?q=nothing", /No campaign matches the filter/],
    [logPath(site), /Raw text/],
    [runPath(site), /Raw text/],
    [altoViewerPath(site), /The viewer needs scripts; the raw file does not\./],
    ["uv.html", /needs scripts/],
    ["uv.html#?manifest=https%3A%2F%2Farkiv.example%2Fmanifest.json", /needs scripts/],
  ];
  for (const [path, offer] of offers) {
    await page.goto(path);
    const text = await page.locator("body").innerText();
    assert.doesNotMatch(text, /\b(?:reading|loading|opening)\b.*…/i, path);
    assert.match(text, offer, path);
    assert.deepEqual(await idleControls(page), [], path);
  }
  await page.goto(altoViewerPath(site));
  assert.equal(await page.getByRole("link", { name: "Raw file" }).getAttribute("href"), altoSource(site));
}, { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false, expected: EXPECTED });
