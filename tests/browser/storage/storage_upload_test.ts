import assert from "node:assert/strict";
import type { Page, Route } from "playwright-core";

import { accessibilityFindings } from "@/tests/browser/accessibility.ts";
import { storageScenarios, type StorageVisit } from "./storage_fixture.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const MIB = 1024 * 1024;
/** Below which the files go. */
const PREFIX = "folder/";

/** The page of an empty folder in a real application. */
interface Visit extends StorageVisit {
  /** A folder on the disk for files to be chosen. */
  readonly disk: string;
  /** The keys in the folder, and their lengths. */
  objects(): Promise<Record<string, number>>;
}

/** Markup in a name. */
const HOSTILE = "<img src=x onerror=document.title='taken'>";

/** @param expected texts of console errors that belong to the test */
function scenario(name: string, test: (visit: Visit) => Promise<void>, expected: readonly RegExp[] = []): void {
  storageScenarios("storage uploads")(name, async (visit) => {
    const { gateway, bucket, open, folderAt } = visit;
    const disk = await Deno.makeTempDir();
    const objects = async () => {
      const listed = await gateway.json("GET", `/buckets/${bucket}/objects?prefix=${encodeURIComponent(PREFIX)}`);
      const objects = listed.objects as readonly { Key: string; Size: number }[];
      return Object.fromEntries(objects.map(({ Key, Size }) => [Key.slice(PREFIX.length), Size]));
    };
    using _removal = removeAtEnd(disk);
    await open(folderAt(PREFIX));
    await test({ ...visit, disk, objects });
    // The probe of the store is answered by 404, which Chromium reports.
  }, { expected: [/404 \(Not Found\)/, ...expected] });
}

const filesInput = (page: Page) => page.locator(".upload-area input[type=file]").first();
const folderInput = (page: Page) => page.locator(".upload-area input[type=file]").last();
const head = (page: Page) => page.locator("#dock-title");

/** Bytes that are not the same in all parts. */
function write(path: string, length: number): void {
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeFileSync(path, new Uint8Array(length).map((_, index) => index * 31 + (index >> 16)));
}

async function sha256(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  return [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].join();
}

interface HeldRequests {
  /** The first of them has come. */
  readonly held: Promise<void>;
  release(): Promise<void>;
}

/** Holds the requests that send a part, until they are released. */
function holdPart(page: Page, number: number): Promise<HeldRequests> {
  return holdRequests(
    page,
    (url) => url.searchParams.get("partNumber") === String(number) && !url.href.includes("not-an-upload"),
  );
}

async function holdRequests(page: Page, isHeld: (url: URL) => boolean): Promise<HeldRequests> {
  const routes: Route[] = [];
  const { promise: held, resolve } = Promise.withResolvers<void>();
  let isReleased = false;
  await page.route(isHeld, (route) => {
    if (isReleased) return route.continue().catch(() => {});
    routes.push(route);
    resolve();
  });
  return {
    held,
    async release() {
      isReleased = true;
      await page.unroute(isHeld);
      // Those of a page that was left are gone.
      await Promise.all(routes.map((route) => route.continue().catch(() => {})));
    },
  };
}

scenario("a folder with its folders arrives byte for byte", async ({ page, disk, objects, gateway, bucket }) => {
  write(`${disk}/scans/a.txt`, 10);
  write(`${disk}/scans/deep/åäö 1.tif`, 300 * 1024);
  write(`${disk}/scans/large.bin`, 20 * MIB);
  write(`${disk}/scans/${HOSTILE}`, 1);
  Deno.writeFileSync(`${disk}/scans/empty`, new Uint8Array());
  await folderInput(page).setInputFiles(`${disk}/scans`);
  await head(page).getByText("5 files uploaded").waitFor();
  assert.equal(await page.locator(".uploads li").getByText(`scans/${HOSTILE}`).count(), 1, "as text");
  assert.equal(await page.locator(".uploads img").count(), 0);
  assert.deepEqual(await objects(), {
    [`scans/${HOSTILE}`]: 1,
    "scans/a.txt": 10,
    "scans/deep/åäö 1.tif": 300 * 1024,
    "scans/empty": 0,
    "scans/large.bin": 20 * MIB,
  });
  const path = `/buckets/${bucket}/objects/${encodeURIComponent(`${PREFIX}scans/large.bin`)}`;
  const stored = await gateway.call("GET", path);
  assert.equal(
    await sha256(await stored.arrayBuffer()),
    await sha256(Deno.readFileSync(`${disk}/scans/large.bin`)),
  );
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole("link", { name: "scans" }).first().waitFor();
});

scenario("paused, then on; after a reload a file skips what has arrived", async (visit) => {
  const { page, disk, objects, open, folderAt } = visit;
  write(`${disk}/large.bin`, 40 * MIB);
  const third = await holdPart(page, 3);
  await filesInput(page).setInputFiles(`${disk}/large.bin`);
  await third.held;
  await page.getByText("33.6 MB of 41.9 MB").waitFor();
  await page.getByRole("button", { name: "Pause all" }).click();
  await head(page).getByText(/^Paused · 0 of 1 uploaded/).waitFor();
  assert.deepEqual(await objects(), {});

  page.once("dialog", (dialog) => dialog.accept());
  await open(folderAt(PREFIX));
  await page.getByText(/An upload of 1 file \(41\.9\sMB\).*was interrupted/).waitFor();
  await third.release();
  const sent: string[] = [];
  page.on("request", (request) => {
    const part = new URL(request.url()).searchParams.get("partNumber");
    if (request.method() === "PUT" && part !== null && !request.url().includes("not-an-upload")) sent.push(part);
  });
  await filesInput(page).setInputFiles(`${disk}/large.bin`);
  await head(page).getByText("1 file uploaded").waitFor();
  assert.deepEqual(sent, ["3"]);
  assert.deepEqual(await objects(), { "large.bin": 40 * MIB });
  await page.getByText(/was interrupted/).waitFor({ state: "detached" });
});

scenario("the button opens the dialog; a name that is too long ends in an ellipsis", async ({ page, disk }) => {
  const name = `${"long-name-".repeat(20)}.txt`;
  write(`${disk}/${name}`, 10);
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await (await choosing).setFiles(`${disk}/${name}`);
  await head(page).getByText("1 file uploaded").waitFor();
  // Chromium draws no ellipsis for what overflows inside an isolated element.
  const shown = await page.locator(".uploads .name bdi").evaluate((text) => {
    const { textOverflow, display } = getComputedStyle(text);
    return { isCut: text.scrollWidth > text.clientWidth, textOverflow, display };
  });
  assert.deepEqual(shown, { isCut: true, textOverflow: "ellipsis", display: "block" });
});

scenario("the question about names in use is put once", async ({ page, disk, objects }) => {
  for (const name of ["a.txt", "b.txt", "c.txt"]) write(`${disk}/${name}`, 10);
  await filesInput(page).setInputFiles([`${disk}/a.txt`, `${disk}/b.txt`]);
  await head(page).getByText("2 files uploaded").waitFor();
  for (const name of ["a.txt", "b.txt"]) write(`${disk}/${name}`, 20);
  await filesInput(page).setInputFiles(["a.txt", "b.txt", "c.txt"].map((name) => `${disk}/${name}`));
  await page.getByText("In use: a.txt, b.txt.").waitFor();
  await head(page).getByText("3 of 5 uploaded · 2 names in use").waitFor();
  await page.waitForFunction(async () =>
    (await navigator.locks.query()).held?.every(({ name }) => !name?.startsWith("upload "))
  );
  const leaves = () => page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true })));
  assert.equal(await leaves(), true, "nothing is being sent, so nothing is lost");
  const puts = await holdRequests(page, ({ pathname }) => pathname.endsWith("/objects/:key"));
  await page.getByRole("button", { name: "Keep both" }).click();
  await puts.held;
  assert.equal(await leaves(), false);
  await puts.release();
  await head(page).getByText("5 files uploaded").waitFor();
  await page.locator("[role=status].sr", { hasText: "5 files uploaded" }).waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => document.activeElement?.id), "dock-title", "the button is gone");
  await page.getByRole("button", { name: "Clear the list" }).click();
  await head(page).waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.id), "main", "the dock is gone");
  assert.deepEqual(await objects(), {
    "a.txt": 10,
    "a (2).txt": 20,
    "b.txt": 10,
    "b (2).txt": 20,
    "c.txt": 10,
  });
});

scenario("offline they wait, and resume automatically", async ({ page, disk, objects }) => {
  write(`${disk}/large.bin`, 40 * MIB);
  const third = await holdPart(page, 3);
  await filesInput(page).setInputFiles(`${disk}/large.bin`);
  await third.held;
  // A part on its way may hang in the browser instead of failing, until the idle timeout of 60 s breaks it off.
  await page.getByText("33.6 MB of 41.9 MB").waitFor();
  await page.context().setOffline(true);
  await third.release();
  await page.getByText("No connection to the server.").waitFor();
  await page.context().setOffline(false);
  await head(page).getByText("1 file uploaded").waitFor();
  assert.deepEqual(await objects(), { "large.bin": 40 * MIB });
}, [/ERR_INTERNET_DISCONNECTED|ERR_FAILED|ERR_NETWORK/]);

scenario("where the browser may not reach the store, all goes through this server", async (visit) => {
  const { page, disk, objects, application } = visit;
  write(`${disk}/large.bin`, 20 * MIB);
  const isStore = (url: URL) => url.origin !== new URL(application.site).origin;
  await page.route(isStore, (route) => route.abort());
  await filesInput(page).setInputFiles(`${disk}/large.bin`);
  await head(page).getByText("1 file uploaded").waitFor();
  assert.deepEqual(await objects(), { "large.bin": 20 * MIB });
  await page.getByText("do not allow this page to upload directly to the store").waitFor();
  await page.unroute(isStore);
  await page.getByRole("button", { name: "Allow it" }).click();
  await page.getByRole("button", { name: "Allow it" }).waitFor({ state: "detached" });
}, [/ERR_FAILED/]);

scenario("those that were given up are found with their sizes, and deleted", async ({ page, gateway, bucket }) => {
  const path = `/buckets/${bucket}/multipart/${encodeURIComponent(`${PREFIX}given up.bin`)}`;
  const { upload_id } = await gateway.json("POST", path, {});
  await gateway.json("PUT", `${path}?upload_id=${upload_id}&part_number=1`, "x".repeat(3_000_000));
  await page.getByText("Unfinished uploads").click();
  await page.getByRole("row", { name: /given up\.bin.*3\.0\sMB/ }).waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole("button", { name: "Delete the parts of given up.bin" }).click();
  await page.getByText("There are no unfinished uploads in this folder.").waitFor();
  assert.deepEqual((await gateway.json("GET", `/buckets/${bucket}/uploads`)).uploads, []);
});

scenario("a page whose code is gone says so, and the next one knows its upload", async ({ page, disk, objects }) => {
  write(`${disk}/a.txt`, 10);
  const built = "**/build/**";
  await page.route(built, (route) => route.fulfill({ status: 404 }));
  await page.locator("input[type=file]:not([webkitdirectory])").setInputFiles(`${disk}/a.txt`);
  await page.getByText("This page is older than the server").waitFor();
  await head(page).getByText("Stopped").waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.unroute(built);
  // The list of uploads, which may load by now, has such a button as well.
  await page.locator(".unloadable").getByRole("button", { name: "Reload the page" }).click();
  await page.getByText("An upload of 1 file (10 B) to folder/ was interrupted").waitFor();
  assert.deepEqual(await objects(), {});
});

scenario("a list of uploads that cannot be loaded is said, with a reload", async ({ page, disk }) => {
  write(`${disk}/a.txt`, 10);
  const list = "**/build/upload_list-*";
  await page.route(list, (route) => route.fulfill({ status: 502 }));
  await filesInput(page).setInputFiles(`${disk}/a.txt`);
  await page.locator("#dock-uploads [role=alert]").getByText("A script of this page could not be loaded").waitFor();
  await head(page).getByText("1 file uploaded").waitFor();
  await page.unroute(list);
  // The page asks while the end of the upload is being written.
  page.on("dialog", (dialog) => dialog.accept());
  const reloaded = page.waitForEvent("load");
  await page.locator("#dock-uploads").getByRole("button", { name: "Try again" }).click();
  await reloaded;
}, [/502 \(Bad Gateway\)/]);
