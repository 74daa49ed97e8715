import assert from "node:assert/strict";

import type { Page, Route } from "playwright-core";

import { untilHolds } from "@/tests/until.ts";
import { accessibilityFindings } from "@/tests/browser/accessibility.ts";
import { awake, follow } from "@/tests/browser/site_fixture.ts";
import { ACCOUNT, put, storageScenarios } from "./storage_fixture.ts";

const scenario = storageScenarios("storage folder");

/** Names of the folder that the tests make up: too many for a store to be filled with. */
const MANY = 1_000_000;

const bodyOf = (key: string) => "x".repeat(key.length);

/** Answers listings of a folder of {@link MANY} names, `n-0000000` and on. */
async function madeListings(page: Page): Promise<void> {
  const nameOf = (n: number) => `many/n-${String(n).padStart(7, "0")}`;
  await page.route("**/storage/api/buckets/:bucket/objects?*", async (route: Route) => {
    const query = new URL(route.request().url()).searchParams;
    const prefix = query.get("prefix") ?? "";
    const after = query.get("start_after");
    const first = Number(query.get("continuation_token") ?? 0);
    const digits = prefix.slice("many/n-".length);
    const found = digits === "" ? MANY : Math.min(MANY, 10 ** (7 - digits.length));
    const base = Number(digits.padEnd(7, "0") || 0);
    const from = after === null ? first : Number(after.match(/\d+/)?.[0].padEnd(7, "9") ?? 0) + 1;
    const count = Math.min(1000, found - from);
    const objects = Array.from({ length: count }, (_, n) => ({
      Key: nameOf(base + from + n),
      Size: from + n,
      LastModified: "2026-11-22T11:02:00Z",
    }));
    const isCut = from + count < found;
    await route.fulfill({
      json: {
        objects,
        common_prefixes: [],
        is_truncated: isCut,
        next_continuation_token: isCut ? String(from + count) : null,
      },
    });
  });
}

const rowsOf = (page: Page) => page.locator("tr[data-row]");
const status = (page: Page) => page.locator(".actions p").innerText();
/** Waits until the line above the rows is this: it is rendered after the key or the click has been taken. */
const untilStatus = (page: Page, expected: RegExp) =>
  untilHolds(async () => assert.match(await status(page), expected));
/** Waits until the control with this text has the focus. */
const focusOn = (page: Page, text: string) =>
  page.waitForFunction((text) => document.activeElement?.textContent === text, text);

scenario("search, sort, selection by mouse and keys, the panel, and what the address keeps", async (visit) => {
  const { page, bucket, open, folderAt } = visit;
  const keys = Array.from({ length: 120 }, (_, n) => `own/page ${String(n).padStart(3, "0")}.tif`);
  await put(visit, [...keys, "own/sub/x.txt", "own/<b>.txt"], bodyOf);
  await open(folderAt("own/"));
  await untilStatus(page, /^122 entries$/);
  assert.equal(await rowsOf(page).first().locator("bdi").innerText(), "sub/");
  assert.deepEqual(await accessibilityFindings(page), []);

  await page.fill("[name=find]", "page 00");
  await page.getByText("10 entries").waitFor();
  assert.match(page.url(), /&find=page%2000$/);
  await page.reload();
  await awake(page);
  await untilStatus(page, /^10 entries$/);
  await page.fill("[name=find]", "zzz");
  await page.getByText("No name in this folder begins with “zzz”.").waitFor();
  await page.fill("[name=find]", "");
  await page.getByText("122 entries").waitFor();

  await page.getByRole("button", { name: "Size" }).click();
  await rowsOf(page).nth(1).locator("bdi").getByText("page 000.tif").waitFor();
  await page.getByRole("button", { name: "Name" }).click();

  await page.getByRole("checkbox", { name: "Select page 003.tif" }).click();
  await page.getByRole("checkbox", { name: "Select page 006.tif" }).click({ modifiers: ["Shift"] });
  await untilStatus(page, /^4 selected · 64\sB$/);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.locator("[data-row] a", { hasText: "page 004.tif" }).click();
  await page.locator(".side dl").waitFor();
  assert.match(page.url(), /&open=own%2Fpage%20004\.tif$/);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press("Escape");
  await page.locator(".side").waitFor({ state: "detached" });
  await focusOn(page, "page 004.tif");
  await page.keyboard.press("Escape");
  await untilStatus(page, /^122 entries$/);

  for (const key of ["ArrowDown", " ", "Shift+ArrowDown", "Shift+ArrowDown"]) await page.keyboard.press(key);
  await untilStatus(page, /^3 selected/);
  await page.keyboard.press("End");
  await focusOn(page, "page 119.tif");
  await page.keyboard.press("Home");
  await focusOn(page, "sub/");
  await page.keyboard.press("Control+a");
  await untilStatus(page, /^122 selected/);
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await page.locator("thead input:focus").waitFor();

  // What a search hides stays selected.
  await page.getByRole("checkbox", { name: "Select page 003.tif" }).click();
  await page.getByRole("checkbox", { name: "Select sub/" }).click();
  await page.fill("[name=find]", "page 11");
  await untilStatus(page, /^2 selected · 2 not shown here$/);
  await page.getByRole("checkbox", { name: "Select page 111.tif" }).click();
  await untilStatus(page, /^3 selected · 2 not shown here$/);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.fill("[name=find]", "zzz");
  await untilStatus(page, /^3 selected · 3 not shown here$/);
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 3 objects" }).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await page.locator("[name=find]:focus").waitFor();
  await page.fill("[name=find]", "");
  await untilStatus(page, /^122 entries$/);
  await page.locator("thead input").focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Select all that is listed").waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.locator("[name=find]:focus").waitFor();

  // Another part of the page reports a change.
  await put(visit, ["own/zz new.txt"], bodyOf);
  await page.evaluate(([account, bucket]) =>
    document.dispatchEvent(
      new CustomEvent("storage-folder-changed", { detail: { account, bucket, prefix: "own/" } }),
    ), [ACCOUNT, bucket]);
  await page.getByText("123 entries").waitFor();
  await page.locator("[data-row] a", { hasText: "sub/" }).click();
  await page.waitForURL(/prefix=own%2Fsub%2F$/);
});

scenario("a million names are scrolled, jumped to and searched with few nodes and bounded memory", async (visit) => {
  const { page, bucket, open, folderAt } = visit;
  await put(visit, ["many/n-0000000"]);
  await madeListings(page);
  await open(folderAt("many/"));
  await page.evaluate(([account, bucket]) =>
    document.dispatchEvent(
      new CustomEvent("storage-folder-changed", { detail: { account, bucket, prefix: "many/" } }),
    ), [ACCOUNT, bucket]);
  await page.getByText("The first 1,000 entries").waitFor();

  // Names on the screen follow each other without a gap, however far one has scrolled.
  const names = () => rowsOf(page).locator("bdi").allInnerTexts();
  for (let pages = 0; pages < 12; pages++) {
    const before = await status(page);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.waitForFunction((before) => document.querySelector(".actions p")?.textContent !== before, before);
    const numbers = (await names()).map((name) => Number(name.slice("n-".length)));
    assert.ok(numbers.length > 20 && numbers.every((n, i) => i === 0 || n === numbers[i - 1] + 1));
  }
  assert.ok(await page.evaluate(() => document.querySelectorAll("*").length) < 1500);

  await page.getByRole("checkbox", { name: "Select all that is listed" }).check();
  await untilStatus(page, /^[\d,]+ selected · more exist below$/);
  await page.getByRole("button", { name: "Select the whole folder" }).click();
  await untilStatus(page, /^All of many\/ selected$/);
  await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete “many/”?" }).getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Clear the selection" }).click();

  await page.fill("[name=from]", "n-09");
  await page.keyboard.press("Enter");
  await page.locator("bdi", { hasText: "n-0900000" }).waitFor();
  assert.match(page.url(), /&from=many%2Fn-09$/);
  await page.fill("[name=find]", "n-012345");
  await page.getByText("10 entries").waitFor();
  assert.deepEqual(await names(), Array.from({ length: 10 }, (_, n) => `n-012345${n}`));
});

scenario("without scripts folders are browsed by pages and objects are saved", async (visit) => {
  const { page, open, folderAt } = visit;
  await put(visit, ["a/b/c.txt"]);
  await open(folderAt(""));
  const first = page.locator("a.entry").first();
  await follow(page, first);
  while (await page.locator(".kind-icon.folder").count() > 0) await follow(page, first);
  await follow(page, first);
  await page.waitForURL(/\/storage\/object\?/);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).click(),
  ]);
  assert.ok(download.suggestedFilename().length > 0);
  await page.goBack().catch(() => {});
  await page.locator(".account-menu summary").click();
  await page.getByRole("link", { name: "Log in to another account" }).click();
  await page.waitForURL(/\/login\?next=%2Fstorage$/);
}, { javaScriptEnabled: false });

scenario("a phone shows it in dark colours and in Swedish, without scrolling sideways", async (visit) => {
  const { page, open, folderAt } = visit;
  await put(visit, ["phone/en lång sida med å ä ö ".padEnd(200, "x") + ".tif", "phone/a.json"]);
  await open(folderAt("phone/"));
  await untilStatus(page, /^2 poster$/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.locator("[data-row] input").first().check();
  await page.getByRole("button", { name: "Åtgärder" }).click();
  for (const name of ["Byt namn", "Flytta", "Kopiera", "Ta bort"]) {
    await page.getByRole("toolbar").getByRole("button", { name }).click({ trial: true });
  }
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.textContent?.trim() === "Åtgärder");
  await page.locator("[data-row] a", { hasText: "a.json" }).click();
  await page.waitForURL(/\/storage\/object\?/);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  assert.deepEqual(await accessibilityFindings(page), []);
}, { viewport: { width: 390, height: 800 }, colorScheme: "dark", locale: "sv-SE" });
