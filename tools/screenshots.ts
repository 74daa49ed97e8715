import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { folderOf } from "@/lib/pages/storage/key_names.ts";
import { type FolderAddress, folderPath, storageApiPath } from "@/lib/pages/storage/storage_paths.ts";
import { startApplication } from "@/tests/application.ts";
import { launch } from "@/tests/browser/chromium.ts";
import { toolArguments } from "./arguments.ts";

/** The folder of the documentation's pictures. */
const FOLDER = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
/** Quality of WebP, 0 to 100: letters stay sharp, and a picture stays below {@linkcode MAX_BYTES}. */
const QUALITY = 82;
const MAX_BYTES = 150_000;
/** Timeout for a page to appear, ms. */
const WAIT_MS = 60_000;
/** The account of the samples that owns the storage. */
const CURATOR = "archive/curator";

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
    const viewer = await linkTo(wide, 'tr:has(.chip.done) a[href^="/uv.html"]');
    await written(wide, new URLSearchParams(viewer.split("#?")[1]).get("manifest") ?? "");
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

    const curator = await browser.newPage({ colorScheme: "light", viewport: { width: 1280, height: 800 } });
    await curator.goto(`${site}login?next=/storage`);
    await curator.fill("[name=username]", CURATOR);
    await curator.fill("[name=password]", SAMPLE_PASSWORD);
    await curator.click("form[action='/login'] [type=submit].primary");
    await settled(curator, "table a");
    await curator.goto(new URL(folderPath(await textsOfVolume(curator, site)), site).href);
    await settled(curator, ".side dl");
    await save(curator, "storage");

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

/** Waits until a file of the samples is there, which are written after the start. */
async function written(page: Page, address: string): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!(await page.request.head(address)).ok()) {
    if (Date.now() > end) throw new Error(`${address} is not there after ${WAIT_MS} ms`);
    await page.waitForTimeout(500);
  }
}

/** The folder with the texts of a volume, the first of them open beside it. */
async function textsOfVolume(page: Page, site: string): Promise<FolderAddress> {
  const bucket = "campaigns";
  const listing = await page.request.get(
    new URL(storageApiPath("/buckets/:bucket/objects", CURATOR, { bucket }), site).href,
  );
  const { objects }: { objects: readonly { Key: string }[] } = await listing.json();
  const open = objects.find(({ Key }) => Key.includes("/alto/"))?.Key ?? "";
  return { account: CURATOR, bucket, prefix: folderOf(open), open };
}

/** Waits until an element is there and nothing more is read. */
async function settled(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor({ state: "attached", timeout: WAIT_MS });
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
  await link.waitFor({ state: "attached", timeout: WAIT_MS });
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

toolArguments("deno run --config deno.test.json -A tools/screenshots.ts");
await takeScreenshots();
