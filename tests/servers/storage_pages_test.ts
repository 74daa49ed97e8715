import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";

import type { Page } from "playwright-core";

import { downloadPath, folderPath, objectPath, storageApiPath } from "@/lib/pages/storage/storage_paths.ts";
import { startApplication } from "@/tests/application.ts";
import { launch } from "@/tests/browser/chromium.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";

const MIB = 1024 * 1024;

/** How a store parts from what the pages do over the embedded one. */
interface StoreDifferences {
  /** Keys that it rejects. */
  readonly rejected: readonly string[];
  /** Keys under which it stores what was written under another one. */
  readonly folded: Readonly<Record<string, string>>;
  /** Whether parts go through the gateway until the page has added a CORS rule to the bucket; else straight to the store. */
  readonly needsRule: boolean;
}

const LONG = "a".repeat(900);
/** Long, in names that fit into a file system. */
const DEEP = `${"d".repeat(224)}/`.repeat(4);

const ODD_KEYS = [
  "a/b.txt",
  "a//b.txt",
  "a/../b.txt",
  "..",
  "a/%2e%2e/b",
  "%2F",
  " leading and trailing ",
  "a+b&c=d?e#f",
  "line\nbreak",
  "<img src=x onerror=alert(1)>",
  "invoice\u202Egpj.exe",
  "åäö/Längd 🎉.txt",
  "x/acl",
  "delete",
  LONG,
  `${DEEP}z`,
];

const SERVERS: Readonly<Record<string, StoreDifferences>> = {
  VERSITYGW: {
    rejected: ["..", LONG],
    folded: { "a//b.txt": "a/b.txt", "a/../b.txt": "b.txt" },
    needsRule: true,
  },
  MINIO: {
    rejected: ["a//b.txt", "a/../b.txt", "..", LONG],
    folded: {},
    needsRule: false,
  },
};

for (const [server, differences] of Object.entries(SERVERS)) {
  const [endpoint, account, password] = ["URL", "ACCESS_KEY", "SECRET_KEY"].map((part) =>
    Deno.env.get(`TEST_${server}_${part}`) ?? ""
  );
  const why = endpoint ? "" : ` (needs TEST_${server}_URL, _ACCESS_KEY and _SECRET_KEY)`;
  Deno.test(
    `storage pages, ${server}${why}`,
    { ignore: endpoint === "" },
    (t) => storagePages(t, { endpoint, account, password, differences }),
  );
}

interface Store {
  readonly endpoint: string;
  /** The access key and its secret. */
  readonly account: string;
  readonly password: string;
  readonly differences: StoreDifferences;
}

/** The pages over a store that knows S3 alone, and nothing of the management API. */
async function storagePages(t: Deno.TestContext, { endpoint, account, password, differences }: Store): Promise<void> {
  const application = await startApplication({
    env: {
      ROLES: "gateway,web",
      EMBEDDED: "off",
      HOST: "127.0.0.1",
      STORAGE_BACKEND: "generic",
      S3_ENDPOINT_URL: endpoint,
      API_SECRET_KEY: randomUUID(),
      CAMPAIGN_WEB_SITE_ONLY: "1",
    },
  });
  const chromium = await launch();
  const disk = await Deno.makeTempDir();
  const bucket = `pages-${randomUUID()}`;
  const browser = new StorageBrowser(application.site);
  const at = (key: string) => ({ account, bucket, key });
  const call = async (method: string, operation: string, body?: unknown) => {
    const response = await browser.fetch(storageApiPath(operation, account, { bucket }), {
      method,
      headers: { "Content-Type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, json: text === "" ? null : JSON.parse(text) };
  };
  const put = async (key: string, body: BodyInit, headers: Record<string, string> = {}) => {
    const response = await browser.fetch(downloadPath(at(key)), { method: "PUT", body, headers });
    await response.body?.cancel();
    return response.status;
  };
  const saved = async (key: string) => {
    const response = await browser.fetch(downloadPath(at(key)));
    return response.status === 200 ? await response.text() : (await response.body?.cancel(), null);
  };
  const keys = async (prefix: string): Promise<string[]> => {
    const { json } = await call("GET", `/buckets/:bucket/objects`);
    return json.objects.map(({ Key }: { Key: string }) => Key).filter((key: string) => key.startsWith(prefix));
  };
  try {
    const page = await (await chromium.newContext({ acceptDownloads: true })).newPage();
    page.setDefaultTimeout(20_000);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    const openFolder = async (prefix: string) => {
      await page.goto(new URL(folderPath({ account, bucket, prefix }), application.site).href);
      await page.waitForFunction(() => document.querySelectorAll("[data-island]:not([data-hydrated])").length === 0);
    };

    await t.step("the access key and its secret log in, and a tenant in front of it changes nothing", async () => {
      assert.equal(await browser.logIn(account, "wrong"), "/login?error=401");
      assert.equal(await browser.logIn("nobody", password), "/login?error=401");
      const home = `/storage?account=${encodeURIComponent(account)}`;
      assert.equal(await browser.logIn(`archive/${account}`, password), home);
      assert.equal(await browser.logIn(account, password), home);
      assert.equal((await call("POST", "/buckets", { bucket })).status, 201);
      const { html } = await browser.page(home);
      assert.ok(html.includes(`<bdi>${bucket}</bdi>`));
      await page.goto(`${application.site}login?next=/storage`);
      await page.fill("[name=username]", account);
      await page.fill("[name=password]", password);
      await page.click("button[type=submit]");
      await page.getByRole("link", { name: bucket }).waitFor();
    });

    await t.step("odd keys are stored and shown as they are, or rejected with a sentence", async () => {
      for (const key of ODD_KEYS) {
        const status = await put(key, `bytes of ${key}`);
        if (differences.rejected.includes(key)) {
          assert.equal(status, 400, key);
          const { html } = await browser.page(objectPath(at(key)));
          assert.match(html, /class="banner bad"/, key);
          continue;
        }
        assert.equal(status, 200, key);
        assert.equal(await saved(key), `bytes of ${key}`, key);
        const { status: shown, html } = await browser.page(objectPath(at(key)));
        assert.equal(shown, 200, key);
        assert.doesNotMatch(html, /class="banner bad"|<img/, key);
      }
      const { folded, rejected } = differences;
      const stored = ODD_KEYS.filter((key) => !rejected.includes(key)).map((key) => folded[key] ?? key);
      assert.deepEqual((await keys("")).sort(), [...new Set(stored)].sort());
      const root = await browser.page(folderPath({ account, bucket, prefix: "" }));
      assert.ok(root.html.includes("&lt;img src=x onerror=alert(1)>"));
      assert.ok(root.html.includes("⟨U+202E⟩"));
      const found = await browser.page(folderPath({ account, bucket, prefix: "", find: "inv" }));
      assert.match(found.html, /invoice/);
      assert.doesNotMatch(found.html, /acl/);
      const from = await browser.page(folderPath({ account, bucket, prefix: "", from: "line\nbreak" }));
      assert.match(from.html, /break/);
      assert.doesNotMatch(from.html, /invoice/);
    });

    await t.step("small and long files are uploaded, parts straight to the store once it allows that", async () => {
      const long = randomBytes(20 * MIB);
      await Deno.writeFile(`${disk}/long.bin`, long);
      await Deno.writeTextFile(`${disk}/åäö small.txt`, "small");
      const direct: string[] = [];
      page.on("request", (request) => {
        const part = new URL(request.url()).searchParams.get("partNumber");
        const isProbe = request.url().includes("not-an-upload");
        if (request.url().startsWith(endpoint) && part !== null && !isProbe) direct.push(part);
      });
      await openFolder("up/");
      await filesInput(page).setInputFiles([`${disk}/long.bin`, `${disk}/åäö small.txt`]);
      await uploads(page).getByText("2 files uploaded").waitFor();
      if (differences.needsRule) {
        await page.getByText("do not allow this page to upload directly to the store").waitFor();
        assert.deepEqual(direct, []);
        await page.getByRole("button", { name: "Allow it" }).click();
        await page.getByRole("button", { name: "Allow it" }).waitFor({ state: "detached" });
        await Deno.rename(`${disk}/long.bin`, `${disk}/direct.bin`);
        await filesInput(page).setInputFiles(`${disk}/direct.bin`);
        await uploads(page).getByText("3 files uploaded").waitFor();
      }
      assert.deepEqual(direct.sort(), ["1", "2"]);
      const name = differences.needsRule ? "direct.bin" : "long.bin";
      assert.ok((await keys("up/")).includes("up/åäö small.txt"));
      for (const key of new Set(["up/long.bin", `up/${name}`])) {
        const got = await browser.fetch(downloadPath(at(key)));
        assert.equal(digest(new Uint8Array(await got.arrayBuffer())), digest(long), key);
      }
    });

    await t.step("a shared link opens without a login", async () => {
      await page.goto(new URL(objectPath(at("up/åäö small.txt")), application.site).href);
      await page.waitForFunction(() => document.querySelectorAll("[data-island]:not([data-hydrated])").length === 0);
      await page.getByRole("button", { name: "Create a link" }).click();
      const url = await page.getByRole("textbox", { name: "Link" }).inputValue();
      assert.ok(url.startsWith(endpoint));
      assert.equal(await (await fetch(url)).text(), "small");
    });

    assert.deepEqual(complaints, []);
  } finally {
    await call("DELETE", "/buckets/:bucket").catch(() => {});
    await chromium.close();
    await application.stop();
    await Deno.remove(disk, { recursive: true });
  }
}

const filesInput = (page: Page) => page.locator(".upload-area input[type=file]").first();
const uploads = (page: Page) => page.locator("#dock-title");

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
