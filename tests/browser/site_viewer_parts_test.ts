import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { untilHolds } from "@/tests/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { open, siteScenarios } from "./site_fixture.ts";
import { ARCHIVE, HOSTILE, openViewer, openVolume, serve, volumeManifest } from "./viewer_volume.ts";

const scenario = siteScenarios("viewer", { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });

declare global {
  // What a script of a test counts in the page.
  var added: number;
}

/** The text of a page of so many lines. */
function longAlto(lines: number): string {
  const line = (n: number) =>
    `<TextLine HPOS="200" VPOS="${n}" WIDTH="800" HEIGHT="1">${
      ["rad", n, "slut"].map((word) => `<String CONTENT="${word}" WC="0.${n % 10}"/>`).join("")
    }</TextLine>`;
  const block = `<TextBlock>${Array.from({ length: lines }, (_, n) => line(n)).join("")}</TextBlock>`;
  return `<alto><Layout><Page WIDTH="1200" HEIGHT="${
    Math.max(1800, lines)
  }"><PrintSpace>${block}</PrintSpace></Page></Layout></alto>`;
}

/** Waits until the number of the page is this: it is rendered after the key or the click has been taken. */
const untilPage = (page: Page, number: string) =>
  untilHolds(async () => assert.equal(await page.getByRole("textbox", { name: "Page" }).inputValue(), number));
/** Waits until the figure of the search is this. */
const untilHits = (page: Page, figure: RegExp) =>
  untilHolds(async () => assert.match(await page.locator(".find output").textContent() ?? "", figure));
/** Waits until the element with this text has the focus. */
const focusOn = (page: Page, text: string) =>
  page.waitForFunction((text) => document.activeElement?.textContent === text, text);
const canvasAt = (index: number) => ({ id: `${ARCHIVE}/canvas/${index}`, type: "Canvas" });

scenario("a search lists its hits, marks them, and goes from one to the next", async ({ page }) => {
  await openVolume(page, { pages: 4 });
  await page.getByRole("searchbox", { name: "Search in this volume" }).fill("askan");
  await page.getByText("4 pages searched.").waitFor();
  assert.equal(await page.locator(".hits li").count(), 4);
  assert.equal(await page.locator(".thumb b").count(), 4);
  await untilHits(page, /^4 hits$/);
  await page.keyboard.press("Enter");
  await page.locator(".page-marks .current-hit").waitFor({ state: "attached" });
  await untilHits(page, /^1 of 4$/);
  await page.getByRole("button", { name: "Next hit" }).click();
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  await page.locator(".page-marks .current-hit").waitFor({ state: "attached" });
  await page.getByRole("searchbox").fill("ASKAN");
  await page.locator(".hits li").nth(3).waitFor();
  const exact = page.getByRole("checkbox", { name: "Match case and accents" });
  await page.keyboard.press("Tab");
  await exact.focus();
  const looks = await exact.evaluate((box) => [box.clientWidth < 24, getComputedStyle(box).outlineStyle]);
  assert.deepEqual(looks, [true, "solid"]);
  await exact.check();
  await page.waitForFunction(() => document.querySelectorAll(".hits li").length === 0);
  await page.getByRole("searchbox").fill("askan");
  await untilHits(page, /^0 hits$/);
  await exact.uncheck();
  await page.locator(".hits li").nth(3).waitFor();
  // Enter right after the last letter searches for what stands in the field.
  await page.getByRole("searchbox").fill("ASKAN");
  await page.getByRole("searchbox").press("Enter");
  await untilHits(page, /^[1-4] of 4$/);
  await page.getByRole("searchbox").fill("img src");
  await page.locator(".hits mark", { hasText: "img src" }).first().waitFor();
  await page.locator(".hits button").nth(3).click();
  await page.waitForFunction(() => location.hash.endsWith("cv=3"));
  await page.locator(".hits").waitFor({ state: "detached" });
  assert.equal(await page.locator("[onerror]").count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
});

scenario("hits are marked in the text beside the image, the current one in view", async ({ page }) => {
  await openVolume(page, { pages: 2, text: (name) => longAlto(name === "1.xml" ? 450 : 3) });
  await page.getByRole("searchbox").fill("rad 412 slut");
  await page.getByText("2 pages searched.").waitFor();
  await page.getByRole("searchbox").press("Enter");
  const mark = page.locator(".text-lines mark[aria-current]");
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  await mark.waitFor();
  assert.equal(await mark.textContent(), "rad 412 slut");
  await page.waitForFunction(() => {
    const box = document.querySelector(".text-lines mark[aria-current]")?.getBoundingClientRect();
    const panel = document.querySelector(".text-scroll")?.getBoundingClientRect();
    return box && panel && box.top > panel.top && box.bottom < panel.bottom;
  });
  await page.getByRole("searchbox").fill("rad 9");
  await page.waitForFunction(() => document.querySelectorAll(".text-lines mark").length === 11);
  await mark.waitFor({ state: "detached" });
  assert.deepEqual(await accessibilityFindings(page), []);
});

scenario("a page of many lines is rendered list by list, in the end all of it", async ({ page }) => {
  await serve(page, { pages: 2, text: (name) => longAlto(name === "0.xml" ? 5_000 : 3) });
  await page.addInitScript(() => {
    // The most lines that are added at once.
    globalThis.added = 0;
    new MutationObserver((records) => {
      const lines = records.flatMap(({ addedNodes }) => [...addedNodes])
        .flatMap((node) => node instanceof Element ? [...node.querySelectorAll("li[data-line]")] : []);
      globalThis.added = Math.max(globalThis.added, lines.length);
    }).observe(document, { childList: true, subtree: true });
  });
  await openViewer(page);
  await page.locator(".text-lines li").first().waitFor();
  // The page reacts while the lists are rendered.
  await page.keyboard.press("ArrowRight");
  await page.getByText("rad 2 slut").waitFor();
  assert.equal(await page.locator(".text-lines li").count(), 3);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelectorAll(".text-lines li").length === 5_000, null, {
    timeout: 60_000,
  });
  assert.ok(await page.evaluate(() => globalThis.added) <= 200, String(await page.evaluate(() => globalThis.added)));
  assert.equal(await page.getByRole("list", { name: "Lines 4901 to 5000" }).getByRole("listitem").count(), 100);
  assert.ok(await page.locator(".page-marks path").count() <= 20);
  await page.locator(".text-lines li").nth(4_998).hover();
  await page.locator(".page-marks .lit").waitFor({ state: "attached" });
});

/** The text of the page of `5.xml` as it is copied and saved. */
const PAGE_TEXT = `Åskan går över 5.xml\n${HOSTILE} 5.xml\nVäxjö domkyrka 5.xml`;

scenario("the text of the page is copied as it is read", async ({ page }) => {
  await openVolume(page, { pages: 8 }, 5);
  await page.getByRole("button", { name: "Copy the text" }).click();
  await page.getByRole("status").filter({ hasText: "The text is copied" }).waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), PAGE_TEXT);
}, { permissions: ["clipboard-read", "clipboard-write"] });

scenario("the reader stays at a hit while further pages are read and the list of hits grows", async ({ page }) => {
  await serve(page, { pages: 6 });
  const isHeld = Promise.withResolvers<void>();
  // The texts of the pages before the open one.
  await page.route(/\/alto\/[0-2]\.xml$/, async (route) => {
    await isHeld.promise;
    await route.fallback();
  });
  await openViewer(page, 3);
  const box = page.getByRole("searchbox");
  await box.fill("askan");
  await page.locator(".hits li").nth(2).waitFor();
  await box.press("Enter");
  await untilHits(page, /^1 of ≥ 3$/);
  await page.locator(".text-lines mark[aria-current]").waitFor();
  isHeld.resolve();
  await untilHits(page, /^4 of 6$/);
  assert.match(page.url(), /cv=3$/);
  assert.equal(await page.locator(".text-lines mark[aria-current]").count(), 1);
  await box.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("cv=4"));
  await untilHits(page, /^5 of 6$/);
});

scenario("it names volume and page, and leads to the run log and back to the campaign", async ({ page, site }) => {
  await serve(page, { pages: 3 });
  await site.change({
    files: {
      "/iiif.json": volumeManifest({ pages: 3 }),
      "/_pages/batch-default/p/SE-G%C3%96T-1": { pages: [], next: null },
      "/p/SE-G%C3%96T-1/manifest.json": { results: { "0004": { status: "failed", error: "the image is damaged" } } },
      "/source.json": volumeManifest({ pages: 5 }),
    },
  });
  const folder = `${site.url}results/batch-default/p/SE-G%C3%96T-1`;
  const log = `${site.url}results/batch-default/status/logs/p/SE-G%C3%96T-1.txt`;
  const campaign = "campaign=batch-default%2Fsvea-hovratt-1870";
  const source = encodeURIComponent(`${site.url}results/batch-default/source.json`);
  const named = `${campaign}&volume=p%2FSE-G%C3%96T-1&source=${source}`;
  const path = `uv.html#?manifest=${encodeURIComponent(`${folder}/iiif.json`)}&cv=1&${named}`;
  await open(page, path, "manifest_viewer");
  const said = (title: string) =>
    page.waitForFunction((title) => document.querySelector<HTMLElement>(".title p")?.title === title, title);
  await said("SE-GÖT-1 · f. 2");
  const runLog = page.getByRole("link", { name: "Run log" });
  const manifest = encodeURIComponent(`${folder}/manifest.json`);
  assert.equal(
    await runLog.getAttribute("href"),
    `/log?log=${encodeURIComponent(log)}&manifest=${manifest}&${campaign}`,
  );
  const back = page.getByRole("link", { name: "Back to svea-hovratt-1870" });
  assert.match(
    await back.getAttribute("href") ?? "",
    /^\/\?q=svea-hovratt-1870&open=batch-default%2Fsvea-hovratt-1870/,
  );
  await page.keyboard.press("ArrowRight");
  await said("SE-GÖT-1 · f. 3");
  assert.equal(await page.locator(".title p").innerText(), "SE-GÖT-1 · f. 3");
  assert.ok(page.url().endsWith(`&cv=2&${named}`));

  // Pages without a text are named above the image, and keep their number and their image.
  assert.deepEqual(await page.locator(".unread p").allInnerTexts(), [
    "1 page could not be read: 0004",
    "1 page has not been read: 0005",
  ]);
  await page.getByRole("link", { name: "0004", exact: true }).click();
  await said("SE-GÖT-1 · 0004");
  assert.ok(page.url().endsWith(`&page=0004&${named}`));
  assert.equal(
    await page.locator(".text-panel .text-note").innerText(),
    "This page could not be read: the image is damaged",
  );

  // The address of another server says nothing of a volume.
  await openViewer(page);
  await said("f. 1 · arkiv.example");
  assert.equal(await runLog.count(), 0);
  await page.getByRole("link", { name: "Back to the campaigns" }).waitFor();
});

scenario("the drawer takes the focus by pointer or key, and gives it back", async ({ page }) => {
  await openVolume(page, { pages: 2 });
  const button = page.getByRole("button", { name: "About this volume" });
  const close = page.getByRole("dialog", { name: "About this volume" }).getByRole("button", { name: "Close" });
  const hasFocus = (name: string) => page.waitForFunction((name) => document.activeElement?.ariaLabel === name, name);
  await page.locator(".drawer").waitFor({ state: "attached" });
  await button.click();
  await hasFocus("Close");
  await page.keyboard.press("Escape");
  await close.waitFor({ state: "hidden" });
  await hasFocus("About this volume");
  await page.keyboard.press("i");
  await hasFocus("Close");
  await close.press("Enter");
  await close.waitFor({ state: "hidden" });
  await hasFocus("About this volume");
});

scenario("contents, facts, rights and links are in the drawer, as text", async ({ page }) => {
  await serve(page, {
    pages: 8,
    extra: {
      summary: { sv: ["Dop och vigslar"] },
      metadata: [{ label: { sv: ["Referenskod"] }, value: { none: [`C:3 ${HOSTILE}`] } }],
      rights: "https://creativecommons.org/licenses/by-sa/4.0/",
      requiredStatement: { label: { sv: ["Källa"] }, value: { sv: ["Riksarkivet"] } },
      provider: [{ type: "Agent", label: { sv: ["Riksarkivet i Lund"] }, logo: [{ id: `${ARCHIVE}/image/l.svg` }] }],
      rendering: [{ id: `${ARCHIVE}/volym.pdf`, label: { sv: ["PDF"] } }, { id: "javascript:alert(1)" }],
      structures: [{
        type: "Range",
        label: { sv: ["Innehåll"] },
        items: [{ id: `${ARCHIVE}/r/1`, type: "Range", label: { sv: ["Vigda 1790"] }, items: [canvasAt(5)] }],
      }],
    },
  });
  await openViewer(page);
  await page.getByText("Riksarkivet", { exact: true }).waitFor();
  await page.getByRole("button", { name: "About this volume" }).click();
  const drawer = page.getByRole("dialog", { name: "About this volume" });
  for (const text of ["Dop och vigslar", `C:3 ${HOSTILE}`, "CC BY-SA 4.0", "Riksarkivet i Lund"]) {
    await drawer.getByText(text).first().waitFor();
  }
  assert.equal(await page.locator("[onerror], a[href^=javascript]").count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
  await drawer.getByRole("link", { name: "Vigda 1790" }).click();
  await page.waitForFunction(() => location.hash.endsWith("cv=5"));
  const saved = page.waitForEvent("download");
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  await drawer.getByRole("button", { name: "Text of the page" }).click();
  const file = await saved;
  assert.equal(file.suggestedFilename(), "f. 6.txt");
  assert.equal(await Deno.readTextFile(await file.path()), PAGE_TEXT);
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "hidden" });
}, { viewport: { width: 390, height: 800 } });

scenario("a volume from right to left opens in spreads, and the left key goes on", async ({ page }) => {
  await openVolume(page, { pages: 6, extra: { viewingDirection: "right-to-left", behavior: ["paged"] } });
  await untilPage(page, "1");
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  await untilPage(page, "2–3");
  await page.locator(".page-marks").nth(1).waitFor({ state: "attached" });
  assert.equal(await page.locator(".thumb[aria-current]").count(), 2);
  await page.getByRole("button", { name: "Two pages side by side" }).click();
  await untilPage(page, "2");
  await page.setViewportSize({ width: 390, height: 800 });
  await openViewer(page, 1);
  await untilPage(page, "2");
});

scenario("where a page has several images, the reader chooses one", async ({ page }) => {
  const image = (name: string) => ({
    id: `${ARCHIVE}/image/${name}.svg`,
    type: "Image",
    label: { sv: [name] },
    width: 600,
    height: 900,
  });
  const requests = await serve(page, {
    pages: 1,
    extra: {
      items: [{
        ...canvasAt(0),
        width: 600,
        height: 900,
        items: [{
          type: "AnnotationPage",
          items: [{
            type: "Annotation",
            motivation: "painting",
            target: canvasAt(0).id,
            body: { type: "Choice", items: [image("dagsljus"), image("ultraviolett")] },
          }],
        }],
      }],
    },
  });
  await openViewer(page);
  const choice = page.getByRole("combobox", { name: "Image" });
  await choice.waitFor();
  assert.ok(!requests.includes("/image/ultraviolett.svg"));
  const asked = page.waitForRequest(`${ARCHIVE}/image/ultraviolett.svg`);
  await choice.selectOption({ label: "ultraviolett" });
  await asked;
  await page.getByText("No text is published for this page.").waitFor();
});

scenario("the page number keeps the focus, End scrolls the text, and a refused copy is told", async ({ page }) => {
  await openVolume(page, { pages: 4 });
  const field = page.getByRole("textbox", { name: "Page" });
  await field.fill("2");
  await field.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  await page.waitForFunction(() => document.activeElement?.closest("form.number input"));
  await untilPage(page, "2");
  if (!await page.locator(".text-panel").isVisible()) {
    await page.getByRole("button", { name: "Text", exact: true }).click();
  }
  await page.locator(".text-scroll").focus();
  await page.keyboard.press("End");
  assert.match(page.url(), /cv=1$/);
  await page.evaluate(() => navigator.clipboard.writeText = () => Promise.reject(new Error("refused")));
  await page.getByRole("button", { name: "Copy the text" }).click();
  await page.getByText("The browser did not allow copying.").waitFor();
});

scenario("in an order that leaves pages out, all parts of the viewer show the same page", async ({ page }) => {
  const order = { type: "Range", behavior: ["sequence"], label: { sv: ["Urval"] } };
  await openVolume(page, { pages: 8, extra: { structures: [{ ...order, items: [6, 2, 4].map(canvasAt) }] } }, 2);
  const isAt = async (number: string, canvas: number) => {
    await page.getByText(`Åskan går över ${canvas}.xml`).waitFor();
    await untilPage(page, number);
    await page.waitForFunction((canvas) => location.hash.endsWith(`cv=${canvas}`), canvas);
    await page.locator(".thumb[aria-current] .label", { hasText: new RegExp(`f. ${canvas + 1}$`) }).waitFor();
    await page.waitForFunction((number) => document.title.startsWith(`Page ${number} `), number);
  };
  await isAt("3", 2);
  await page.keyboard.press("i");
  const choice = page.getByRole("combobox", { name: "Order of the pages" });
  await choice.selectOption("Urval");
  await page.keyboard.press("Escape");
  await isAt("2", 2);
  await untilHolds(async () => assert.equal(await page.locator(".thumb").count(), 3));
  await page.keyboard.press("ArrowRight");
  await isAt("3", 4);
  await page.keyboard.press("Home");
  await isAt("1", 6);
  // Two pages side by side: the first of the two in this order is the page that the address names.
  await page.getByRole("button", { name: "Two pages side by side" }).click();
  await page.getByRole("button", { name: "Two pages side by side", pressed: true }).waitFor();
  await page.keyboard.press("ArrowRight");
  await untilPage(page, "2–3");
  await page.waitForFunction(() => location.hash.endsWith("cv=2"));
  const headings = ["Page f. 3 quality 0.77", "Page f. 5 quality 0.77"];
  await untilHolds(async () => assert.deepEqual(await page.locator(".text-panel h2").allTextContents(), headings));
  await page.getByRole("button", { name: "Two pages side by side" }).click();
  await page.getByRole("searchbox").fill("askan");
  await page.getByText("8 pages searched.").waitFor();
  assert.deepEqual(await page.locator(".hits li .note").allTextContents(), ["f. 7", "f. 3", "f. 5"]);
  await page.getByText("5 more hits on pages that the chosen order leaves out.").waitFor();
  await page.getByRole("searchbox").press("Enter");
  await untilHits(page, /^2 of 3$/);
  await isAt("2", 2);
  await page.getByRole("button", { name: "Next hit" }).click();
  await isAt("3", 4);
  // An address of a page that the order leaves out opens that page, in the order of the manifest.
  await page.evaluate(() => location.hash = location.hash.replace(/cv=\d+/, "cv=5"));
  await isAt("6", 5);
  await untilHits(page, /^5 of 8$/);
});

scenario("an address counts all canvases, also those that cannot be read", async ({ page }) => {
  const body = { id: `${ARCHIVE}/image/3.svg`, type: "Image", width: 600, height: 900 };
  const painting = { type: "Annotation", motivation: "painting", target: canvasAt(3).id, body };
  const painted = { ...canvasAt(3), items: [{ type: "AnnotationPage", items: [painting] }] };
  await serve(page, { pages: 1, extra: { items: [null, canvasAt(1), { type: "Scene" }, painted] } });
  const asked = page.waitForRequest(`${ARCHIVE}/image/3.svg`);
  await openViewer(page, 3);
  await asked;
  await untilPage(page, "4");
  await openViewer(page, 1);
  await page.getByText("The manifest has no image of this page.").waitFor();
  await openViewer(page, 0);
  await page.getByText("The manifest describes this page in a form that cannot be read.").waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press("i");
  await page.getByText("2 pages of the manifest cannot be read and are shown empty.").waitFor();
});

/** An entry of the contents. */
const range = (name: string, items: readonly unknown[]) => ({
  type: "Range",
  id: `${ARCHIVE}/r/${name}`,
  label: { sv: [name] },
  items,
});

scenario("arrows go through the contents, and many entries are rendered in groups", async ({ page }) => {
  const parts = Array.from({ length: 30 }, (_, n) => range(`Del ${n}`, [canvasAt(n % 4)]));
  const others = Array.from({ length: 450 }, (_, n) => range(`Akt ${n}`, [canvasAt(n % 4)]));
  await openVolume(page, { pages: 4, extra: { structures: [range("Band", parts), ...others] } });
  await page.getByText("Åskan går över 0.xml").waitFor();
  await page.keyboard.press("i");
  const items = page.getByRole("navigation", { name: "Contents" }).locator("[data-entry]");
  const hasEntries = (count: number) =>
    page.waitForFunction((count) => document.querySelectorAll("[data-entry]").length === count, count);
  await hasEntries(451);
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.equal(await page.locator("[data-entry][tabindex='0']").count(), 1);
  await items.first().focus();
  await page.keyboard.press("ArrowRight");
  await hasEntries(481);
  await page.keyboard.press("ArrowRight");
  await focusOn(page, "Del 0");
  await page.keyboard.press("ArrowDown");
  await focusOn(page, "Del 1");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  await page.locator("[data-entry][aria-current=location]", { hasText: /^Del 1$/ }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await focusOn(page, "Band");
  await page.keyboard.press("ArrowLeft");
  await hasEntries(451);
  await page.keyboard.press("End");
  await focusOn(page, "Akt 449");
  assert.match(page.url(), /cv=1$/);
  // A part that is folded by the mouse takes the stop from what it holds, and the arrows go on from it.
  const unfold = page.getByRole("button", { name: "Parts of Band" });
  await unfold.click();
  await hasEntries(481);
  await items.filter({ hasText: /^Del 3$/ }).focus();
  await unfold.evaluate((button: HTMLElement) => button.click());
  await hasEntries(451);
  const stops = () => page.locator("[data-entry][tabindex='0']").allTextContents();
  await untilHolds(async () => assert.deepEqual(await stops(), ["Band"]));
  await items.filter({ hasText: /^Akt 7$/ }).focus();
  await unfold.click();
  await hasEntries(481);
  await page.keyboard.press("ArrowDown");
  await focusOn(page, "Del 0");
});

scenario("the Tab key leads into contents that begin with a bare label", async ({ page }) => {
  await openVolume(page, { pages: 2, extra: { structures: [range("Band", []), range("Akt", [canvasAt(1)])] } });
  await page.getByText("Åskan går över 0.xml").waitFor();
  await page.keyboard.press("i");
  await page.locator("[data-entry]").waitFor();
  assert.deepEqual(await page.locator(".toc .entry").allTextContents(), ["Band", "Akt"]);
  assert.deepEqual(await page.locator("[data-entry][tabindex='0']").allTextContents(), ["Akt"]);
});

scenario("one stop of the Tab key leads into the lines of a page, and arrows go through them", async ({ page }) => {
  await openVolume(page, { pages: 2, text: () => longAlto(250) });
  await page.locator(".text-lines li").nth(249).waitFor({ state: "attached" });
  const stops = () => page.locator(".text-lines [tabindex='0']").allTextContents();
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await untilHolds(async () => assert.deepEqual(await stops(), ["1"]));
  const before = page.getByRole("button", { name: "Close the text" });
  await before.focus();
  await page.keyboard.press("Tab");
  await focusOn(page, "1");
  await page.keyboard.press("ArrowDown");
  await untilHolds(async () => assert.deepEqual([await focused(), await stops()], ["2", ["2"]]));
  await page.locator(".text-lines li.lit").filter({ hasText: "rad 1 slut" }).waitFor();
  await page.keyboard.press("End");
  await untilHolds(async () => assert.deepEqual([await focused(), await stops()], ["250", ["250"]]));
  await page.keyboard.press("ArrowUp");
  await focusOn(page, "249");
  await page.keyboard.press("Home");
  await focusOn(page, "1");
  assert.match(page.url(), /cv=0$/);
  await page.keyboard.press("Shift+Tab");
  await untilHolds(async () => assert.ok(await before.evaluate((button) => button === document.activeElement)));
  assert.deepEqual(await accessibilityFindings(page), []);
});

/** A painting of an image file on a canvas. */
const painting = (canvas: string, name: string, type = "Image") => ({
  type: "AnnotationPage",
  items: [{
    type: "Annotation",
    motivation: "painting",
    target: canvas,
    body: { id: `${ARCHIVE}/image/${name}`, type, width: 600, height: 900 },
  }],
});

scenario("what accompanies a recording is shown in its place, with a sentence about the sound", async ({ page }) => {
  const { id } = canvasAt(0);
  const beside = {
    id: `${id}/beside`,
    type: "Canvas",
    width: 600,
    height: 900,
    items: [painting(`${id}/beside`, "omslag.svg")],
  };
  const sound = { ...canvasAt(0), duration: 60, accompanyingCanvas: beside, items: [painting(id, "a.mp4", "Sound")] };
  await serve(page, { pages: 1, extra: { items: [sound] } });
  const asked = page.waitForRequest(`${ARCHIVE}/image/omslag.svg`);
  await openViewer(page);
  await asked;
  await page.getByText("This page is a sound recording, which this viewer does not play.").waitFor();
  assert.equal(await page.locator(".viewer-problem").count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
});

for (const script of [/\/openseadragon-[^/]*\.js$/, /\/manifest_viewer-[^/]*\.js$/]) {
  scenario(`a script that cannot be loaded is said, and tried again: ${script.source}`, async ({ page }) => {
    await serve(page, { pages: 2 });
    await page.route(script, (route) => route.abort());
    await openViewer(page, 1);
    await page.getByText("A script of this page could not be loaded.").waitFor();
    await page.unroute(script);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".page-marks path").first().waitFor({ state: "attached" });
    await untilPage(page, "2");
  }, { expected: [/./] });
}
