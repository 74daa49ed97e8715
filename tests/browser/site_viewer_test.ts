import assert from "node:assert/strict";
import { Buffer } from "node:buffer";

import type { Page, Route } from "playwright-core";

import { untilHolds } from "@/tests/until.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { countShifts, siteScenarios, type Visit } from "./site_fixture.ts";
import { ARCHIVE, CORS, HOSTILE, openViewer, openVolume, serve, volumeManifest } from "./viewer_volume.ts";

const scenario = siteScenarios("viewer", { viewport: { width: 1280, height: 800 } });

const currentPage = (page: Page) => page.getByRole("textbox", { name: "Page" }).inputValue();
const untilPage = (page: Page, number: string) => untilHolds(async () => assert.equal(await currentPage(page), number));
const hash = (page: Page) => page.evaluate(() => location.hash);

scenario("a deep link opens its page, and loads nothing of those before it", async ({ page }) => {
  const requests = await openVolume(page, { pages: 2000 }, 1500);
  await page.locator(".thumb[aria-current] img").waitFor();
  await page.getByText("Åskan går över 1500.xml").waitFor();
  assert.equal(await currentPage(page), "1501");
  assert.equal(await page.title(), "Page 1501 · Växjö kyrkobok · Stackroom");
  assert.ok(requests.every((path) => path === "/manifest.json" || Number(/\d+/.exec(path)) > 1490), requests.join());
  assert.ok(await page.locator(".thumb").count() < 20);
});

scenario("the link past the bar leads to the page, and the manifest stays open", async ({ page }) => {
  await openVolume(page, { pages: 3 }, 1);
  await untilPage(page, "2");
  const before = await hash(page);
  await page.evaluate(() => document.querySelector<HTMLElement>(".skip")!.click());
  await page.waitForFunction((hash) => location.hash === hash, before);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
  assert.equal(await currentPage(page), "2");
});

scenario("buttons, keys, number and thumbnails turn pages, and back and forward return", async ({ page }) => {
  await openVolume(page, { pages: 12 });
  await page.getByRole("button", { name: "Next page" }).click();
  await page.waitForFunction(() => location.hash.endsWith("&cv=1"));
  await page.keyboard.press("ArrowRight");
  await untilPage(page, "3");
  await page.keyboard.press("End");
  await untilPage(page, "12");
  await page.getByRole("button", { name: "Next page", disabled: true }).waitFor();
  await page.keyboard.press("Home");
  const field = page.getByRole("textbox", { name: "Page" });
  await field.fill("7");
  await field.press("Enter");
  await page.waitForFunction(() => location.hash.endsWith("&cv=6"));
  await field.fill("none");
  await field.press("Enter");
  await untilPage(page, "7");
  await page.evaluate(() => history.pushState(null, "", location.hash.replace("cv=6", "cv=2")));
  await page.goBack();
  await page.waitForFunction(() => location.hash.endsWith("cv=6"));
  await page.goForward();
  await page.waitForFunction(() => document.title.startsWith("Page 3 "));
  await page.locator(".thumb", { hasText: "f. 2" }).first().click();
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
});

scenario("a line is lit in the text and on the image, from either side, and a click enlarges it", async ({ page }) => {
  await openVolume(page, { pages: 3 });
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  const lines = page.locator(".text-lines li");
  await lines.nth(2).hover();
  await page.locator(".page-marks .lit").waitFor({ state: "attached" });
  const marks = await page.locator(".page-marks").boundingBox() ?? assert.fail();
  // Where the file has the second line.
  await page.mouse.move(marks.x + marks.width / 2, marks.y + marks.height * 650 / 1800);
  await page.waitForFunction(() => document.querySelectorAll(".text-lines li")[1].matches(".lit"));
  const zoom = () => page.locator(".dock .zoom").textContent();
  const before = await zoom();
  await lines.nth(0).click();
  await page.waitForFunction((text) => document.querySelector(".dock .zoom")?.textContent !== text, before);
  await page.keyboard.press("0");
  await page.waitForFunction((text) => document.querySelector(".dock .zoom")?.textContent === text, before);
  assert.match(await page.locator(".text-panel h2").textContent() ?? "", /quality 0\.77/);
  assert.deepEqual(
    await page.locator(".text-lines li > span").evaluateAll((spans) => spans.map((s) => s.className)),
    ["high", "medium", "low"],
  );
}, { reducedMotion: "reduce" });

scenario("no image stands under another page's number, or holds back another", async ({ page }) => {
  await serve(page, { pages: 3 });
  await page.route(`${ARCHIVE}/image/1.svg`, () => {});
  await openViewer(page);
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  const { x, y, width, height } = await page.locator(".surface").boundingBox() ?? assert.fail();
  /** A pixel between two lines of the page. */
  const pixel = async () => {
    const clip = { x: Math.round(x + width / 2), y: Math.round(y + height * 0.43), width: 1, height: 1 };
    return (await page.screenshot({ clip })).toString("base64");
  };
  await page.waitForTimeout(300);
  const paper = await pixel();
  await page.keyboard.press("ArrowRight");
  await page.getByText("Åskan går över 1.xml").waitFor();
  await untilHolds(async () => assert.notEqual(await pixel(), paper));
  await page.keyboard.press("ArrowRight");
  await page.getByText("Åskan går över 2.xml").waitFor();
  await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
  await untilHolds(async () => assert.equal(await pixel(), paper));
}, { reducedMotion: "reduce" });

scenario("the image of the next page is requested ahead, and of no further page", async ({ page }) => {
  const requests = await serve(page, { pages: 4 });
  const next = page.waitForResponse(`${ARCHIVE}/image/1.svg`);
  await openViewer(page);
  await next;
  assert.ok(requests.indexOf("/image/0.svg") < requests.indexOf("/image/1.svg"));
  const afterNext = page.waitForResponse(`${ARCHIVE}/image/2.svg`);
  await page.keyboard.press("ArrowRight");
  await afterNext;
  assert.ok(!requests.includes("/image/3.svg"));
});

scenario("what files say is shown as text", async ({ page }) => {
  const statement = { label: { en: [HOSTILE] }, value: { en: [`x ${HOSTILE}`] } };
  const extra = { requiredStatement: statement, metadata: [statement], summary: { en: [`x ${HOSTILE}`] } };
  await openVolume(page, { pages: 2, label: `x ${HOSTILE}`, extra });
  await page.locator(".text-lines").getByText(HOSTILE).waitFor();
  assert.match(await page.textContent("h1") ?? "", /<img src=x onerror=alert\(1\)>/);
  assert.equal(await page.locator("[onerror]").count(), 0);
});

scenario("panels that are closed stay closed, and single keys can be switched off", async ({ page }) => {
  await openVolume(page, { pages: 3 });
  await page.locator(".text-lines").waitFor();
  await page.keyboard.press("t");
  await page.keyboard.press("m");
  await openViewer(page);
  await page.getByText("Page 1 of 3").waitFor({ state: "attached" });
  assert.equal(await page.locator(".text-panel, .thumbs").count(), 0);
  await page.keyboard.press("?");
  await page.getByRole("checkbox", { name: "Single characters are shortcuts" }).uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("t");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => location.hash.endsWith("cv=1"));
  assert.equal(await page.locator(".text-panel").count(), 0);
});

scenario("each failure of the manifest is a sentence with a way on", async ({ page, site }) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /No manifest is named/],
    ["javascript:alert(1)", /not one of http or https/],
    [`${ARCHIVE}/refused`, /cannot be reached/],
    [`${ARCHIVE}/404`, /no file at its address/],
    [`${ARCHIVE}/500`, /failed with status 500/],
    [`${ARCHIVE}/401`, /requires a login of its own/],
    [`${ARCHIVE}/text`, /not JSON/],
    [`${ARCHIVE}/json`, /not a IIIF manifest/],
  ];
  await page.route(`${ARCHIVE}/**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === "refused") return route.abort("failed");
    if (/^\d+$/.test(name)) return route.fulfill({ status: Number(name), headers: CORS });
    return route.fulfill({ body: name === "json" ? "{}" : "text", headers: CORS });
  });
  for (const [url, sentence] of cases) {
    await openViewer(page, 0, url);
    await page.getByRole("alert").filter({ hasText: sentence }).waitFor();
  }
  await openViewer(page, 0, `${site.url}results/ns/p/v/iiif.json`);
  await page.getByRole("link", { name: "Log in" }).nth(1).click();
  await page.waitForURL(/\/login\?next=/);
  const next = new URL(page.url()).searchParams.get("next") ?? "";
  assert.match(next, /^\/uv\.html#\?manifest=.*iiif\.json&cv=0$/);
}, { expected: [/Failed to load resource/] });

scenario("an image and a text that cannot be loaded are said, and are tried again on demand", async ({ page }) => {
  await serve(page, { pages: 2 });
  let isBroken = true;
  await page.route(/\/(?:image|alto)\//, (route) => isBroken ? route.fulfill({ status: 500 }) : route.fallback());
  await openViewer(page);
  await page.getByText("The image of this page cannot be loaded").waitFor();
  await page.getByText("its server failed with status 500").waitFor();
  isBroken = false;
  for (const region of [".page-stage", ".text-panel"]) {
    await page.locator(region).getByRole("button", { name: "Try again" }).click();
  }
  await page.locator(".text-lines").waitFor();
  await page.getByText("The image of this page cannot be loaded").waitFor({ state: "detached" });
}, { expected: [/./] });

const IMAGE = { width: 2400, height: 3600 };
const TILES = { tiles: [{ width: 512, scaleFactors: [1, 2, 4, 8] }] };
const SERVICE_3 = { id: `${ARCHIVE}/iiif/1`, type: "ImageService3", profile: "level1" };

/**
 * Serves a page whose image is a service.
 *
 * @param tile answers the requests for its parts
 * @param service as the manifest names it
 * @param info its description
 */
async function serveService(
  page: Page,
  tile: (route: Route) => Promise<void>,
  service: object = SERVICE_3,
  info: object = { "@context": "http://iiif.io/api/image/3/context.json", ...SERVICE_3, ...TILES },
): Promise<void> {
  const body = { type: "Image", ...IMAGE, service: [service] };
  const painting = { type: "Annotation", motivation: "painting", target: `${ARCHIVE}/canvas/0`, body };
  const items = [{
    id: `${ARCHIVE}/canvas/0`,
    type: "Canvas",
    ...IMAGE,
    items: [{ type: "AnnotationPage", items: [painting] }],
  }];
  await serve(page, { pages: 1, extra: { items } });
  await page.route(`${ARCHIVE}/iiif/1/**`, (route) => {
    if (!route.request().url().endsWith("/info.json")) return tile(route);
    return route.fulfill({ json: { protocol: "http://iiif.io/api/image", ...IMAGE, ...info }, headers: CORS });
  });
}

const CONTEXT_1 = "http://library.stanford.edu/iiif/image-api/1.1/context.json";
const profile1 = (level: number) => `http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level${level}`;
const [info2, info3] = [2, 3].map((version) => (level: number) => ({
  "@context": `http://iiif.io/api/image/${version}/context.json`,
  profile: version === 3 ? `level${level}` : [`http://iiif.io/api/image/2/level${level}.json`],
}));
const TILES_1 = { tile_width: 512, tile_height: 512, scale_factors: [1, 2, 4, 8] };

/** What services of each version and level describe, and the sizes of parts that they give (Image API, compliance). */
const STRICT: Record<string, { readonly info: object; readonly sizes: RegExp; readonly regions?: RegExp }> = {
  "1.1, level 0 with tiles": {
    info: { "@context": CONTEXT_1, profile: profile1(0), ...TILES_1 },
    sizes: /^(?:full|\d+,)$/,
  },
  "1.1, level 2": { info: { "@context": CONTEXT_1, profile: profile1(2) }, sizes: /^(?:full|\d+,\d*|,\d+)$/ },
  "2, level 0 with sizes": {
    info: { ...info2(0), sizes: [{ width: 300, height: 450 }, { width: 1200, height: 1800 }] },
    sizes: /^(?:300,|1200,)$/,
    regions: /^full$/,
  },
  "2, level 1": { info: info2(1), sizes: /^(?:full|\d+,|,\d+)$/ },
  "2, at most 800 wide": {
    info: { ...info2(2), profile: [...info2(2).profile, { maxWidth: 800 }] },
    sizes: /^(?:max|[1-7]?\d{1,2},(?:[1-7]?\d{1,2})?)$/,
  },
  "3, level 0": { info: info3(0), sizes: /^max$/, regions: /^full$/ },
  "3, level 2": { info: info3(2), sizes: /^(?:max|\d+,\d*|,\d+)$/ },
};

for (const [name, { info, sizes, regions = /^(?:full|\d+,\d+,\d+,\d+)$/ }] of Object.entries(STRICT)) {
  scenario(`an image server that gives no more than it promises refuses nothing: version ${name}`, async ({ page }) => {
    const refused: string[] = [];
    const parts = new Set<string>();
    const service = { "@id": `${ARCHIVE}/iiif/1`, ...info };
    await serveService(
      page,
      (route) => {
        const path = decodeURIComponent(new URL(route.request().url()).pathname);
        const [, region, size] = /^\/iiif\/1\/([^/]+)\/([^/]+)\/0\/(?:native|default)\.jpg$/.exec(path) ?? [];
        const isGiven = region !== undefined && regions.test(region) && sizes.test(size);
        if (!isGiven) refused.push(path);
        else parts.add(`${region}/${size}`);
        return isGiven ? route.fallback() : route.fulfill({ status: 400, headers: CORS });
      },
      service,
      info,
    );
    await openViewer(page);
    await page.locator(".page-marks").waitFor({ state: "attached" });
    for (let step = 0; step < 4; step++) await page.getByRole("button", { name: "Zoom in" }).click();
    const finest = regions.test("0,0,512,512") ? 8 : 1;
    await untilHolds(() => Promise.resolve(assert.ok(parts.size >= finest, [...parts].join())));
    assert.deepEqual(refused, []);
    assert.equal(await page.getByRole("alert").count(), 0);
  }, { reducedMotion: "reduce" });
}

scenario("parts that the image server refuses are said once, and are tried again on demand", async ({ page }) => {
  let isStrict = true;
  let refused = 0;
  await serveService(page, (route) => {
    if (!isStrict || route.request().url().includes("/full/")) return route.fallback();
    refused++;
    return route.fulfill({ status: 400, headers: CORS });
  });
  await openViewer(page);
  await page.locator(".page-marks").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Zoom in" }).click();
  const message = page.getByText("Parts of this image cannot be loaded");
  await message.waitFor();
  await untilHolds(() => Promise.resolve(assert.ok(refused > 3)));
  assert.equal(await page.getByRole("alert").count(), 1);
  assert.deepEqual(await accessibilityFindings(page), []);
  isStrict = false;
  await page.locator(".page-stage").getByRole("button", { name: "Try again" }).click();
  await message.waitFor({ state: "detached" });
}, { expected: [/./] });

/** Serves the site at a secure address. */
async function serveSecurely({ page, site }: Visit, origin: string): Promise<void> {
  await page.route(`${origin}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    const response = await fetch(new URL(pathname + search, site.url));
    const headers = Object.fromEntries(response.headers);
    await route.fulfill({ status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) });
  });
}

scenario("a secure page reads addresses of http by https, and says what is blocked", async ({ page, site }) => {
  const origin = "https://stackroom.example";
  await serveSecurely({ page, site }, origin);
  const insecure = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll("https://", "http://"));
  const requests = await serve(page, { pages: 2, extra: insecure({ items: volumeManifest({ pages: 2 }).items }) });
  const open = async (url: string) => {
    await page.goto("about:blank");
    await page.goto(`${origin}/uv.html#?manifest=${encodeURIComponent(url)}&cv=0`);
  };
  await open(`${ARCHIVE}/manifest.json`.replace("https:", "http:"));
  await page.locator(".text-lines").waitFor();
  await untilHolds(() =>
    Promise.resolve(assert.ok(requests.includes("/image/0.svg") && requests.includes("/thumb/0.svg")))
  );
  assert.equal(await page.getByRole("alert").count(), 0);

  await open("http://gone.example/manifest.json");
  await page.getByRole("alert").filter({ hasText: "the browser blocks its address, which begins with http:" })
    .waitFor();

  await page.route(`${ARCHIVE}/image/**`, (route) => route.abort());
  await open(`${ARCHIVE}/manifest.json`);
  await page.getByRole("alert").filter({ hasText: "The image of this page cannot be loaded: the browser blocks" })
    .waitFor();
}, { expected: [/./] });

scenario("one tile that fails is no failure of an image whose other tiles arrive", async ({ page }) => {
  const message = page.getByText("The image of this page cannot be loaded");
  const isSaid = Promise.withResolvers<void>();
  await serveService(page, async (route) => {
    const { pathname } = new URL(route.request().url());
    // The thumbnail, of the same service.
    if (pathname.includes("/full/84,")) return route.fallback();
    // The whole image in one tile, which is asked for first.
    if (pathname.includes("/full/")) return route.fulfill({ status: 503, headers: CORS });
    await isSaid.promise;
    return route.fallback();
  });
  await openViewer(page);
  await message.waitFor();
  isSaid.resolve();
  await message.waitFor({ state: "detached" });
  await page.getByText("Parts of this image cannot be loaded").waitFor();
}, { expected: [/./] });

for (const [width, colorScheme] of [[1280, "light"], [390, "dark"]] as const) {
  scenario(`${width} px, ${colorScheme}: accessible, as wide as the screen, unmoved`, async ({ page }) => {
    await serve(page, { pages: 30 });
    await countShifts(page);
    await openViewer(page, 3);
    await page.locator(".page-marks path").nth(1).waitFor({ state: "attached" });
    if (width === 390) {
      assert.deepEqual(await accessibilityFindings(page), []);
      await page.getByRole("button", { name: "Thumbnails" }).click();
    }
    await page.locator(".thumb[aria-current] img").waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    if (width === 390) await page.getByRole("button", { name: "Text", exact: true }).click();
    await page.locator(".text-lines").waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight));
    assert.ok(await page.evaluate(() => globalThis.shifted) < 0.02, `${await page.evaluate(() => shifted)}`);
  }, { colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" });
}
