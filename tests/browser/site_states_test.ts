import assert from "node:assert/strict";

import { accessibilityFindings } from "./accessibility.ts";
import { idleControls, paperFindings, tooNarrowWindows, withoutOutline } from "./page_states.ts";
import {
  altoSource,
  altoViewerPath,
  logIn,
  logPath,
  open,
  runPath,
  sampleAlto,
  sampleRunManifest,
  type Visit,
  withPage,
} from "./site_fixture.ts";
import { openViewer, serve } from "./viewer_volume.ts";

/** A page of the site in one of its states. */
interface State {
  readonly name: string;
  /** Leads there from any other. */
  readonly show: (visit: Visit) => Promise<void>;
}

const ALTO = { "/alto/0004.xml": sampleAlto(40), "/iiif.json": {} };

/** Goes to an address, also where only its fragment differs from that of the page before. */
async function go({ page, site }: Visit, path: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(site.url + path);
  await page.waitForFunction(() => !document.querySelector("[data-island]:not([data-hydrated])"));
}

const STATES: readonly State[] = [
  { name: "login", show: (visit) => go(visit, "login") },
  { name: "login that failed", show: (visit) => go(visit, "login?error=401") },
  { name: "unknown address", show: (visit) => go(visit, "nowhere") },
  { name: "refused address", show: (visit) => go(visit, "log?log=https%3A%2F%2Fevil.example%2Fa.txt") },
  {
    name: "list, with open cards",
    show: async (visit) => {
      await go(visit, "");
      for (const name of ["göteborgs-domkapitel-1790", "rådhusrätten-part2"]) await visit.page.click(`text=${name}`);
      await visit.page.locator(".volumes .vid").nth(15).waitFor();
    },
  },
  { name: "list without a match", show: (visit) => go(visit, "?q=nothing") },
  {
    name: "log that goes on",
    show: async (visit) => {
      await go(visit, logPath(visit.site));
      await visit.page.locator(".line").first().waitFor({ state: "attached" });
    },
  },
  {
    name: "log with the summary of its run, all unfolded, and a search",
    show: async (visit) => {
      const { page, site } = visit;
      await site.change({ files: { "/manifest.json": sampleRunManifest(site, 60) } });
      await go(visit, runPath(site));
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
    show: async (visit) => {
      await visit.site.change({ files: { ".txt": 404 } });
      await go(visit, `${runPath(visit.site)}&live=1`);
      await visit.page.getByText("waiting for its first lines").waitFor();
    },
  },
  {
    name: "log that cannot be read",
    show: async (visit) => {
      await visit.site.change({ files: { ".txt": 500, "/manifest.json": 500 } });
      await go(visit, runPath(visit.site));
      await visit.page.getByRole("alert").waitFor();
    },
  },
  {
    name: "text of a page",
    show: async (visit) => {
      await visit.site.change({ files: ALTO });
      await go(visit, altoViewerPath(visit.site));
      await visit.page.locator(".text-line").first().waitFor();
    },
  },
  {
    name: "file of a page",
    show: async (visit) => {
      await visit.site.change({ files: ALTO });
      await go(visit, altoViewerPath(visit.site));
      await visit.page.getByRole("button", { name: "Show XML", disabled: false }).click();
      await visit.page.locator(".printed").waitFor();
    },
  },
  {
    name: "text that is not there",
    show: async (visit) => {
      await visit.site.change({ files: { "/alto/0004.xml": 404 } });
      await go(visit, altoViewerPath(visit.site));
      await visit.page.getByRole("alert").waitFor();
    },
  },
  { name: "viewer without a manifest", show: (visit) => go(visit, "uv.html") },
  {
    name: "viewer",
    show: async (visit) => {
      await openViewer(visit);
      await visit.page.locator(".text-lines li").first().waitFor({ state: "attached" });
      await visit.page.getByRole("searchbox").fill("Växjö");
      await visit.page.locator(".hits button").first().waitFor();
    },
  },
  {
    name: "viewer with its drawer",
    show: async (visit) => {
      await openViewer(visit);
      await visit.page.locator(".drawer").waitFor({ state: "attached" });
      await visit.page.getByRole("button", { name: "About this volume" }).filter({ visible: true }).click();
      await visit.page.locator(".drawer .links").first().waitFor();
    },
  },
];

/** States whose panels stand side by side; site_viewer_test and site_phone_test have them on a phone. */
const SIDE_BY_SIDE = new Set(["viewer", "viewer with its drawer"]);

/** What the browser says of files that are not there, as the states want it. */
const EXPECTED = [/40[04]/, /500/];

/** Shows every state, with a login and a volume for the viewer. */
async function eachState(visit: Visit, look: (name: string) => Promise<void>, states = STATES): Promise<void> {
  await open(visit);
  await serve(visit.page, { pages: 3 });
  for (const { name, show } of states) {
    await show(visit);
    await visit.page.evaluate(() => scrollTo(0, 0));
    await look(name);
  }
}

for (const width of [1280, 390]) {
  Deno.test(
    `states: ${width} px: every page is accessible in both themes, and no wider than its window`,
    withPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" }, async (visit) => {
      const { page } = visit;
      // The other widths are tried from this one.
      const isWide = width === 1280;
      const found: string[] = [];
      await eachState(visit, async (name) => {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          for (const finding of await accessibilityFindings(page)) found.push(`${name}, ${colorScheme}: ${finding}`);
        }
        await page.emulateMedia({ colorScheme: "light" });
        if (isWide) {
          for (const narrow of await tooNarrowWindows(page)) found.push(`${name}: wider than ${narrow} px`);
        }
      }, isWide ? STATES : STATES.filter(({ name }) => !SIDE_BY_SIDE.has(name)));
      assert.deepEqual(found, []);
    }, EXPECTED),
  );
}

Deno.test(
  "states: in forced colours every page is accessible, and what is chosen or marked has an outline",
  withPage(
    { viewport: { width: 1280, height: 900 }, forcedColors: "active", reducedMotion: "reduce" },
    async (visit) => {
      const { page } = visit;
      const found: string[] = [];
      await eachState(visit, async (name) => {
        for (const finding of await accessibilityFindings(page)) found.push(`${name}: ${finding}`);
        for (const finding of await withoutOutline(page)) found.push(`${name}: ${finding}`);
      });
      assert.deepEqual(found, []);
    },
    EXPECTED,
  ),
);

Deno.test(
  "states: with reduced motion nothing moves, and print is white, without controls, as wide as its paper",
  withPage(
    { viewport: { width: 794, height: 1123 }, colorScheme: "dark", reducedMotion: "reduce" },
    async (visit) => {
      const { page } = visit;
      const found: string[] = [];
      await eachState(visit, async (name) => {
        if (await page.evaluate(() => document.getAnimations().length) > 0) found.push(`${name}: moves`);
        for (const finding of await paperFindings(page)) found.push(`${name}: ${finding}`);
      });
      assert.deepEqual(found, []);
    },
    EXPECTED,
  ),
);

Deno.test(
  "states: without scripts no page says that it reads something or offers a control that does nothing",
  withPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false }, async (visit) => {
    const { page, site } = visit;
    await page.goto(`${site.url}login`);
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
      await page.goto(site.url + path);
      const text = await page.locator("body").innerText();
      assert.doesNotMatch(text, /\b(?:reading|loading|opening)\b.*…/i, path);
      assert.match(text, offer, path);
      assert.deepEqual(await idleControls(page), [], path);
    }
    await page.goto(site.url + altoViewerPath(site));
    assert.equal(await page.getByRole("link", { name: "Raw file" }).getAttribute("href"), altoSource(site));
  }, EXPECTED),
);
