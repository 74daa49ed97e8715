import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

import type { Page } from "playwright-core";

import { accessibilityFindings } from "@/tests/browser/accessibility.ts";
import { awake } from "@/tests/browser/site_fixture.ts";
import { put, storageScenarios, type StorageVisit } from "./storage_fixture.ts";

const scenario = storageScenarios("storage changes");

async function keysOf({ gateway, bucket }: StorageVisit, prefix = ""): Promise<string[]> {
  const listing = await gateway.json("GET", `/buckets/${bucket}/objects?prefix=${encodeURIComponent(prefix)}`);
  return (listing.objects as { Key: string }[]).map(({ Key }) => Key);
}

const select = (page: Page, name: string) =>
  page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
const action = (page: Page, name: string) =>
  page.getByRole("toolbar").getByRole("button", { name, exact: true }).click();
const dialog = (page: Page) => page.getByRole("dialog");
const tasks = (page: Page) => page.getByRole("region", { name: /^Tasks/ });

scenario("a folder is created, objects get new names, a name in use is refused", async (visit) => {
  const { page } = visit;
  await put(visit, ["a.txt", "b.txt", "old/1.txt", "old/deep/2.txt"]);
  await visit.open(visit.folderAt(""));
  await page.getByRole("button", { name: "New folder" }).click();
  assert.deepEqual(await accessibilityFindings(page), []);
  await dialog(page).getByLabel("Name").fill("a/b");
  await page.keyboard.press("Enter");
  await dialog(page).getByText("A name cannot contain a slash.").waitFor();
  await dialog(page).getByLabel("Name").fill("Åkta <b>");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Åkta <b>/" }).waitFor();

  await select(page, "a.txt");
  await action(page, "Rename");
  await dialog(page).getByLabel("New name").fill("b.txt");
  await dialog(page).getByRole("button", { name: "Rename" }).click();
  await dialog(page).getByText("“b.txt” already exists.").waitFor();
  await dialog(page).getByLabel("New name").fill("c .txt");
  await dialog(page).getByRole("button", { name: "Rename" }).click();
  await tasks(page).getByText("Renamed.").waitFor();
  await page.getByRole("link", { name: "c .txt" }).waitFor();

  await select(page, "old/");
  await action(page, "Rename");
  await dialog(page).getByLabel("New name").fill("new");
  await page.keyboard.press("Enter");
  await tasks(page).getByText("Rename “old/” to “new/”").waitFor();
  await page.getByRole("link", { name: "new/" }).waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.equal(await page.evaluate(() => document.activeElement?.id), "dock-title");
  assert.deepEqual(await keysOf(visit), ["b.txt", "c .txt", "new/1.txt", "new/deep/2.txt", "Åkta <b>/"]);
});

scenario("an object beside its folder is closed by the task that takes it away, and by that alone", async (visit) => {
  const { page } = visit;
  await put(visit, ["a.txt", "b.txt"]);
  await visit.open(visit.folderAt(""));
  const beside = page.getByRole("complementary");
  const createFolder = async (name: string) => {
    await page.getByRole("button", { name: "New folder" }).click();
    await dialog(page).getByLabel("Name").fill(name);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: `${name}/` }).waitFor();
  };
  await page.getByRole("link", { name: "b.txt" }).click();
  await beside.getByRole("button", { name: "Rename" }).click();
  await dialog(page).getByLabel("New name").fill("c.txt");
  await page.keyboard.press("Enter");
  await beside.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "c.txt" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.matches("thead input"));
  await put(visit, ["b.txt"]);
  await createFolder("first");
  await page.getByRole("link", { name: "b.txt" }).click();
  await beside.getByRole("button", { name: "Rename" }).waitFor();
  await createFolder("second");
  assert.equal(await beside.count(), 1);
});

scenario("uploads and tasks share a dock, which is folded as the reader left it and covers no focus", async (visit) => {
  const { page } = visit;
  const keys = Array.from({ length: 30 }, (_, n) => `${String(n).padStart(2, "0")}.txt`);
  await put(visit, keys);
  await visit.open(visit.folderAt(""));
  // The rename does not end.
  const progress = { task_id: "t", mode: "move", status: "processing", total: 1, done: 0, failed: 0 };
  await page.route(
    /\/transfer/,
    (route) => route.fulfill({ status: route.request().method() === "POST" ? 202 : 200, json: progress }),
  );
  await select(page, "00.txt");
  await action(page, "Rename");
  await dialog(page).getByLabel("New name").fill("z.txt");
  await page.keyboard.press("Enter");
  await tasks(page).getByRole("button", { name: "Cancel" }).waitFor();
  const upload = async (name: string) => {
    const file = { name, mimeType: "text/plain", buffer: Buffer.from("x") };
    await page.locator("input[type=file]:not([webkitdirectory])").setInputFiles(file);
    await page.getByRole("link", { name }).waitFor();
  };
  await upload("up.txt");
  const tab = (name: string) => page.getByRole("tab", { name, selected: true });
  await tab("Uploads").focus();
  await page.keyboard.press("ArrowRight");
  await tab("Tasks").waitFor();
  assert.equal(await tab("Tasks").evaluate((element) => element === document.activeElement), true);
  await page.getByRole("tabpanel", { name: "Tasks" }).getByText("Rename “00.txt” to “z.txt”").waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("tabpanel", { name: "Uploads" }).getByText("up.txt").waitFor();

  const assertLastRowAboveDock = async () => {
    await page.getByRole("link", { name: "00.txt" }).focus();
    for (let row = 0; row <= keys.length; row++) await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => {
      const row = document.activeElement?.closest("[data-row]");
      const dock = document.querySelector("[data-dock]");
      if (!row?.textContent?.includes("up.txt") || !dock) return false;
      return row.getBoundingClientRect().bottom <= dock.getBoundingClientRect().top;
    });
  };
  await assertLastRowAboveDock();
  const unfold = page.getByRole("button", { name: "Unfold uploads and tasks" });
  await page.getByRole("button", { name: "Fold uploads and tasks", exact: true }).click();
  await page.reload();
  await awake(page);
  await unfold.click();
  await page.reload();
  await awake(page);
  await tasks(page).getByText("Rename “00.txt” to “z.txt”").waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  await upload("more.txt");
  await unfold.click();
  await tab("Uploads").waitFor();
  await page.getByRole("tab", { name: "Tasks" }).click();
  await assertLastRowAboveDock();
  assert.deepEqual(await accessibilityFindings(page), []);

  await select(page, "01.txt");
  const menu = page.getByRole("toolbar").getByRole("button", { name: "Actions", exact: true });
  await menu.click();
  await page.locator(".action-menu [aria-expanded=true]").waitFor();
  // Browsers differ in whether a tap gives a button the focus.
  await menu.blur();
  await page.mouse.click(2, 300);
  await page.waitForFunction(() => !document.querySelector(".action-menu [aria-expanded=true]"));
});

scenario("what is deleted comes back where the bucket keeps versions, with a count before", async (visit) => {
  const { page } = visit;
  await put(visit, ["gone/before.txt", "gone/1.txt", "gone/deep/2.txt", "one.txt", "stays.txt"]);
  await (await visit.gateway.call("DELETE", `/buckets/${visit.bucket}/objects/gone/before.txt`)).body?.cancel();
  await put(visit, ["gone/3.txt"]);
  await visit.open(visit.folderAt(""));
  await select(page, "gone/");
  await select(page, "one.txt");
  await action(page, "Delete");
  await dialog(page).getByText("The bucket keeps versions: this can be undone.").waitFor();
  await dialog(page).getByRole("button", { name: "Delete 4 objects" }).click();
  await tasks(page).getByText("4 objects deleted.").waitFor();
  await page.getByRole("link", { name: "gone/" }).waitFor({ state: "detached" });
  assert.deepEqual(await keysOf(visit), ["stays.txt"]);

  // Where all is over, the dock of a new page is one line.
  await page.reload();
  const undo = page.getByRole("button", { name: "Undo" });
  await page.locator("#dock-title").getByText("1 task done").waitFor();
  assert.equal(await undo.count(), 0);
  await page.getByRole("button", { name: "Unfold uploads and tasks" }).click();
  await undo.click();
  await tasks(page).getByText(/objects brought back\./).waitFor();
  await page.getByRole("link", { name: "gone/" }).waitFor();
  const back = await keysOf(visit);
  assert.ok(
    ["gone/1.txt", "gone/3.txt", "gone/deep/2.txt", "one.txt", "stays.txt"].every((key) => back.includes(key)),
  );
});

scenario("several rows are saved as one archive, which opens, and ended tasks are cleared together", async (visit) => {
  const { page } = visit;
  await put(visit, ["scans/1.txt", "scans/å/2.txt", "notes.txt", "other.txt"]);
  await visit.open(visit.folderAt(""));
  await select(page, "scans/");
  await select(page, "notes.txt");
  const [download] = await Promise.all([page.waitForEvent("download"), action(page, "Download ZIP")]);
  await tasks(page).getByText("The archive of 3 objects").waitFor();
  const script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; " +
    "print('|'.join(sorted(f'{n}={z.read(n).decode()}' for n in z.namelist())))";
  const { stdout } = await promisify(execFile)("python3", ["-c", script, await download.path()]);
  assert.equal(
    stdout.trim(),
    "notes.txt=bytes of notes.txt|scans/1.txt=bytes of scans/1.txt|scans/å/2.txt=bytes of scans/å/2.txt",
  );

  await select(page, "other.txt");
  await select(page, "notes.txt");
  await Promise.all([page.waitForEvent("download"), action(page, "Download ZIP")]);
  await page.getByRole("button", { name: "Clear the finished ones" }).click();
  await page.locator("[data-dock]").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.id === "main");
});

scenario("a move ends without its page, and another tab is led to where the folder went", async (visit) => {
  const { page } = visit;
  const keys = Array.from({ length: 30 }, (_, n) => `from/${String(n).padStart(2, "0")}.txt`);
  await put(visit, [...keys, "to/00.txt"]);
  const { folderAt } = visit;
  const other = await page.context().newPage();
  await other.goto(folderAt("from/"));
  await awake(other);
  await visit.open(visit.folderAt(""));
  await select(page, "from/");
  const counting = Promise.withResolvers<void>();
  await page.route(/\/s3_stats/, (route) => counting.promise.then(() => route.continue()));
  await action(page, "Move");
  await dialog(page).getByLabel("Folder", { exact: true }).fill("typed");
  counting.resolve();
  await dialog(page).getByText("30 objects").waitFor();
  assert.equal(await dialog(page).getByLabel("Folder", { exact: true }).inputValue(), "typed");
  await dialog(page).getByLabel("Folder", { exact: true }).fill("");
  await dialog(page).getByRole("button", { name: "Move", exact: true }).click();
  await dialog(page).getByText("They are there already. Choose another folder.").waitFor();
  await page.route(/\/transfer/, (route) => route.fulfill({ status: 429, json: { detail: "10 tasks" } }));
  await dialog(page).getByLabel("Folder", { exact: true }).fill("to");
  await dialog(page).getByRole("button", { name: "Move", exact: true }).click();
  await dialog(page).getByText(`Move to ${visit.bucket}/to/`).waitFor();
  await page.waitForLoadState("networkidle");
  await dialog(page).getByText("Too many tasks are running.").waitFor();
  await page.unroute(/\/transfer/);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.setViewportSize({ width: 320, height: 844 });
  const words = await dialog(page).locator("fieldset label").evaluateAll((labels) =>
    labels.map((label) => {
      const range = new Range();
      range.setStartAfter(label.querySelector("input")!);
      range.setEndAfter(label.lastChild!);
      const { right } = label.querySelector("input")!.getBoundingClientRect();
      return [...range.getClientRects()].filter(({ left, width }) => width > 0 && left < right).length;
    })
  );
  assert.deepEqual(words, [0, 0, 0], "no line of a choice is below its button");
  await page.setViewportSize({ width: 1280, height: 720 });
  const started = page.waitForResponse(/\/transfer/);
  await dialog(page).getByRole("button", { name: "Move", exact: true }).click();
  await started;
  await dialog(page).waitFor({ state: "detached" });
  await page.close();

  await other.waitForURL(folderAt("to/from/"));
  await other.getByRole("link", { name: "29.txt" }).waitFor();
  await tasks(other).getByText("30 objects moved.").waitFor();
  assert.deepEqual(await keysOf(visit, "from/"), []);
  assert.deepEqual(await keysOf(visit, "to/"), ["to/00.txt", ...keys.map((key) => `to/${key}`)]);
}, { expected: [/400 \(Bad Request\)|429 \(Too Many Requests\)/] });

scenario("what the store forbids is explained, and is not offered again", async (visit) => {
  const { page } = visit;
  await put(visit, ["a.txt", "b.txt"]);
  await visit.open(visit.folderAt(""));
  await page.route(
    /objects\/delete-task/,
    (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
          status: 403,
          contentType: "application/json",
          body: JSON.stringify({ detail: "Access Denied" }),
        })
        : route.continue(),
  );
  await select(page, "a.txt");
  await action(page, "Delete");
  await dialog(page).getByRole("button", { name: "Delete 1 object" }).click();
  await dialog(page).getByText("This account may not do that in this bucket.").waitFor();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await select(page, "b.txt");
  await page.getByRole("toolbar").getByRole("button", { name: "Copy" }).waitFor();
  await page.getByText("You may not delete from this bucket.").waitFor();
  assert.equal(await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).count(), 0);
  const readOnly = { namespaceName: visit.bucket, permissions: { permission: ["BROWSE", "READ"] } };
  await visit.gateway.json("POST", "/mapi/tenants/archive/userAccounts/curator/dataAccessPermissions", {
    namespacePermission: [readOnly],
  });
  const file = { name: "c.txt", mimeType: "text/plain", buffer: Buffer.from("c") };
  await page.locator("input[type=file]:not([webkitdirectory])").setInputFiles(file);
  await page.getByText("You may read but not change this bucket.").waitFor();
  assert.equal(await page.getByRole("button", { name: "New folder" }).count(), 0);
  await page.reload();
  await page.getByText("You may read but not change this bucket.").waitFor();
}, { expected: [/403 \(Forbidden\)/] });
