import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

import { startApplication } from "@/tests/application.ts";
import { launch } from "@/tests/browser/chromium.ts";

/** Where the pictures of the documentation lie. */
const FOLDER = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
/** Quality of WebP, 0 to 100: letters stay sharp, and a picture stays below {@linkcode MAX_BYTES}. */
const QUALITY = 82;
const MAX_BYTES = 150_000;

/** Takes the pictures of the documentation of the application with its sample campaigns. */
async function takeScreenshots(): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  const application = await startApplication();
  const browser = await launch();
  try {
    const { site } = application;
    const wide = await browser.newPage({ colorScheme: "light", viewport: { width: 1280, height: 800 } });
    await wide.goto(`${site}login`);
    await save(wide, "login");
    await wide.getByRole("button", { name: "Look around as reader" }).click();
    await settled(wide, "article");
    await save(wide, "campaigns");
    const log = await linkTo(wide, 'tr:has(.chip.done) a[href^="/log?"]');
    const viewer = await linkTo(wide, 'a[href^="/uv.html"]');
    await wide.goto(new URL(viewer, site).href);
    await settled(wide, "canvas");
    await save(wide, "viewer");
    await wide.goto(new URL(log, site).href);
    await wide.getByRole("button", { name: "Unfold all" }).click();
    await settled(wide, ".line");
    await save(wide, "run_log");
    await wide.goto(`${site}docs`);
    await settled(wide, ".opblock-summary-control");
    await save(wide, "api");

    const narrow = await browser.newPage({ colorScheme: "dark", viewport: { width: 390, height: 844 } });
    await narrow.goto(`${site}login`);
    await narrow.getByRole("button", { name: "Look around as reader" }).click();
    await settled(narrow, "article");
    await save(narrow, "campaigns_phone");
  } finally {
    await browser.close();
    await application.stop();
  }
}

/** Waits until an element is there and nothing is read any more. */
async function settled(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor({ state: "attached", timeout: 25_000 });
  await page.waitForLoadState("networkidle");
}

/** The first such address on the page; campaigns are opened for it, one after the other. */
async function linkTo(page: Page, selector: string): Promise<string> {
  const link = page.locator(selector).first();
  const folded = page.locator("article [aria-expanded=false]").first();
  while (await link.count() === 0 && await folded.count() > 0) {
    await folded.click();
    await page.waitForLoadState("networkidle");
  }
  await link.waitFor({ state: "attached", timeout: 25_000 });
  return await link.getAttribute("href") ?? "";
}

/** @throws {Error} where a picture is larger than {@linkcode MAX_BYTES} */
async function save(page: Page, name: string): Promise<void> {
  // Playwright itself writes PNG and JPEG only.
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  const bytes = Uint8Array.fromBase64(data);
  if (bytes.length > MAX_BYTES) throw new Error(`${name}.webp is ${bytes.length} bytes, more than ${MAX_BYTES}`);
  await Deno.writeFile(`${FOLDER}${name}.webp`, bytes);
  console.log(`${name}.webp ${bytes.length}`);
}

await takeScreenshots();
