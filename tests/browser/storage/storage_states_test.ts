import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { downloadPath, folderPath, objectPath, storagePath } from "@/lib/pages/storage/storage_paths.ts";
import { logIn as logInToGateway } from "@/tests/end_to_end/gateway_client.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { accessibilityFindings } from "@/tests/browser/accessibility.ts";
import { idleControls, paperFindings, tooNarrowWindows, withoutOutline } from "@/tests/browser/page_states.ts";
import { sharedBrowser, TIMEOUT_MS } from "@/tests/browser/shared_browser.ts";
import { startSession } from "@/tests/browser/site_fixture.ts";
import { sharedStorage } from "@/tests/end_to_end/shared/applications.ts";

const ACCOUNT = "archive/curator";
/** It may list the buckets of its tenant, and read one of them. */
const READER = "archive/reader";
/** It may see no bucket. */
const NEWCOMER = "archive/newcomer";
const BUCKET = "states";
const EMPTY = "states-empty";

const DEEP = `long/${"of folders/".repeat(60)}`;

/** What the objects hold that the states show, by key. */
const OBJECTS: Readonly<Record<string, readonly [body: string, type: string]>> = {
  ["a long name that no window is wide enough for, without a gap ".padEnd(120, "å")]: ["x", "text/plain"],
  [`${DEEP}x.txt`]: ["x", "text/plain"],
  " odd \u202E<b>.txt": ["x", "text/plain"],
  "lines.txt": [`${"word ".repeat(400)}\n`.repeat(50), "text/plain"],
  "table.csv": [`${Array.from({ length: 40 }, (_, column) => `column ${column}`).join(";")}\n`.repeat(20), "text/csv"],
  "drawing.svg": ['<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="300"/>', "image/svg+xml"],
  "scan.tif": ["no image", "image/tiff"],
  "film.mp4": ["film", "video/mp4"],
  "changed.txt": ["first", "text/plain"],
  "gone.txt": ["first", "text/plain"],
};

const at = (key: string) => ({ account: ACCOUNT, bucket: BUCKET, key });
const inFolder = (prefix: string, more = {}) => folderPath({ account: ACCOUNT, bucket: BUCKET, prefix, ...more });

/** What is shown without a click, scripts or not. */
const ADDRESSES: Readonly<Record<string, string>> = {
  "buckets": storagePath(ACCOUNT),
  "buckets of the system level": storagePath("admin"),
  "buckets that are not listed": storagePath(NEWCOMER),
  "an account that is not logged in": storagePath("archive/other"),
  "empty bucket": folderPath({ account: ACCOUNT, bucket: EMPTY, prefix: "" }),
  "bucket that is not there": folderPath({ account: ACCOUNT, bucket: "none", prefix: "" }),
  "forbidden bucket": folderPath({ account: READER, bucket: "letters", prefix: "" }),
  "folder": inFolder(""),
  "folder without a match": inFolder("", { find: "zzz" }),
  "deep folder": inFolder(DEEP),
  ...Object.fromEntries(
    ["lines.txt", "table.csv", "drawing.svg", "scan.tif", "film.mp4", "changed.txt"]
      .map((key) => [`object ${key}`, objectPath(at(key))]),
  ),
  "deleted object": objectPath(at("gone.txt")),
  "object that is not there": objectPath(at("none")),
};

/** What is shown after a click. The pages follow each other. */
const ACTIONS: Readonly<Record<string, (page: Page, site: string) => Promise<void>>> = {
  "shared object": async (page, site) => {
    await open(page, site + objectPath(at("changed.txt")));
    await page.getByRole("button", { name: "Create a link" }).click();
    await page.getByRole("img", { name: "The link as a QR code" }).waitFor();
  },
  "tags under edit": async (page) => {
    await page.getByRole("button", { name: "Edit the tags" }).click();
  },
  "versions that are compared": async (page) => {
    await page.getByRole("button", { name: /^Compare the version of/ }).click();
    await page.getByText("1 line added, 1 line removed.").waitFor();
  },
  "folder with an object beside it": async (page, site) => {
    await open(page, site + inFolder("", { open: "drawing.svg" }));
    await page.getByRole("complementary").getByRole("img").waitFor();
  },
  "selection": async (page, site) => {
    await open(page, site + inFolder(""));
    for (const name of ["long/", "lines.txt", "changed.txt"]) {
      await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
    }
  },
  "transfer of a selection": async (page) => {
    await page.getByRole("toolbar").getByRole("button", { name: "Move", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "long/" }).waitFor();
  },
  "deletion of a selection": async (page) => {
    await page.keyboard.press("Escape");
    await page.getByRole("toolbar").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByText("3 objects").first().waitFor();
  },
  "ended task": async (page) => {
    await page.getByRole("dialog").getByRole("button", { name: /^Delete/ }).click();
    await page.getByRole("region", { name: /^Tasks/ }).getByText("3 objects deleted.").waitFor();
  },
  "uploads": async (page, site) => {
    await open(page, site + folderPath({ account: ACCOUNT, bucket: EMPTY, prefix: "" }));
    const names = ["x".repeat(250), "<b>.txt"];
    const files = names.map((name) => ({
      name,
      mimeType: "text/plain",
      buffer: new TextEncoder().encode("x") as never,
    }));
    await page.locator(".upload-area input[type=file]").first().setInputFiles(files);
    await page.locator("#dock-title").getByText("2 files uploaded").waitFor();
    await page.getByText("Unfinished uploads").click();
    await page.getByText("There are no unfinished uploads in this folder.").waitFor();
  },
  "folder that cannot be read further": async (page, site) => {
    await page.route("**/storage/api/buckets/:bucket/objects?*", (route) => route.fulfill({ status: 502, json: {} }));
    await open(page, site + inFolder(""));
    await page.getByRole("searchbox").first().fill("c");
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.unrouteAll();
  },
};

/** States whose accessibility no other test looks at; to look takes longer than all else. */
const ALONE_HERE = new Set([
  ...[
    "buckets",
    "buckets that are not listed",
    "forbidden bucket",
    "empty bucket",
    "deleted object",
    "object film.mp4",
  ],
  ...["deletion of a selection", "ended task"],
]);

async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.waitForFunction(() => !document.querySelector("[data-island]:not([data-hydrated])"));
}

/** Stores what the states show. @param site without its trailing slash */
async function fill(site: string): Promise<void> {
  const gateway = await logInToGateway(`${site}/`, ACCOUNT);
  await gateway.json("PUT", `/mapi/tenants/archive/userAccounts?password=${SAMPLE_PASSWORD}`, {
    username: NEWCOMER.slice("archive/".length),
    fullName: "Newcomer",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
  });
  const writer = new StorageBrowser(`${site}/`);
  await writer.logIn(ACCOUNT, SAMPLE_PASSWORD, "/storage");
  const send = async (method: string, path: string, body: string | null, type: string) => {
    const response = await writer.fetch(path, { method, body, headers: { "Content-Type": type } });
    assert.ok(response.ok, `${path}: ${await response.text()}`);
  };
  const query = `account=${encodeURIComponent(ACCOUNT)}&bucket=${BUCKET}`;
  const json = "application/json";
  for (const bucket of [BUCKET, EMPTY]) {
    await send("POST", `/storage/api/buckets?${query}`, JSON.stringify({ bucket }), json);
  }
  await send("PUT", `/storage/api/buckets/:bucket/versioning?${query}`, JSON.stringify({ status: "Enabled" }), json);
  for (const [key, [body, type]] of Object.entries(OBJECTS)) await send("PUT", downloadPath(at(key)), body, type);
  await send("PUT", downloadPath(at("changed.txt")), "second", "text/plain");
  await send("DELETE", downloadPath(at("gone.txt")), null, json);
}

/** A page with four logins. */
async function loggedIn(browser: Browser, site: string, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    javaScriptEnabled,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  for (const account of ["admin", NEWCOMER, READER, ACCOUNT]) {
    await startSession(page, `${site}/login`, account);
  }
  return page;
}

Deno.test("storage states", async (t) => {
  const application = await sharedStorage();
  const browser = await sharedBrowser();
  const site = application.site.slice(0, -1);
  await fill(site);

  await t.step("without scripts no page reads on, or offers a control that does nothing", async () => {
    const page = await loggedIn(browser, site, false);
    for (const [name, path] of Object.entries(ADDRESSES)) {
      await page.goto(site + path);
      assert.doesNotMatch(await page.locator("body").innerText(), /\b(?:reading|loading|opening)\b.*…/i, name);
      assert.deepEqual(await idleControls(page), [], name);
    }
    await page.context().close();
  });

  await t.step(
    "each fits windows of 320 to 2560 px and paper, and shows in forced colours what is marked",
    async () => {
      const page = await loggedIn(browser, site, true);
      const found: string[] = [];
      const look = async (name: string) => {
        const add = (what: string) => found.push(`${name}: ${what}`);
        if (await page.evaluate(() => document.getAnimations().length) > 0) add("moves");
        for (const width of await tooNarrowWindows(page)) add(`wider than ${width} px`);
        await page.emulateMedia({ forcedColors: "active" });
        if (ALONE_HERE.has(name)) { for (const finding of await accessibilityFindings(page)) add(finding); }
        for (const finding of await withoutOutline(page)) add(finding);
        await page.emulateMedia({ forcedColors: "none", colorScheme: "dark" });
        await page.setViewportSize({ width: 794, height: 1123 });
        for (const finding of await paperFindings(page)) add(finding);
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.emulateMedia({ colorScheme: "light" });
      };
      for (const [name, path] of Object.entries(ADDRESSES)) {
        await open(page, site + path);
        await look(name);
      }
      for (const [name, act] of Object.entries(ACTIONS)) {
        await act(page, site);
        await look(name);
      }
      assert.deepEqual(found, []);
      await page.context().close();
    },
  );
});
