import assert from "node:assert/strict";

import { downloadPath, folderPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { type Application, startApplication } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { logIn } from "./gateway_client.ts";
import { StorageBrowser } from "./storage_browser.ts";

const ACCOUNT = "archive/curator";

/** Keys that browsers, paths or markup might change. */
const ODD_KEYS = [
  "a/b.txt",
  "a//b.txt",
  "a/./b.txt",
  "a/../b.txt",
  "..",
  "a/%2e%2e/b",
  " leading and trailing ",
  "a+b&c=d?e#f",
  "line\nbreak",
  "<img src=x onerror=alert(1)>",
  "invoice\u202Egpj.exe",
  "åäö/Längd 🎉.txt",
  "x/acl",
  "delete",
  "a".repeat(1024),
];

const shared = sharedByFile(startApplication, (application) => application.stop());

async function withApplication(test: (application: Application, browser: StorageBrowser) => Promise<void>) {
  const application = await shared();
  await test(application, new StorageBrowser(application.site));
}

const whole = (name: string, test: Parameters<typeof withApplication>[0]) =>
  Deno.test({ name, sanitizeOps: false, sanitizeResources: false, fn: () => withApplication(test) });

whole("storage pages: a login, its buckets, a folder, an object and its bytes, whatever its key", async (
  application,
  browser,
) => {
  const gateway = await logIn(application.site, ACCOUNT);
  await gateway.call("PUT", "/mapi/tenants/archive/namespaces", { name: "odd", hardQuota: "1 GB" });

  const before = await browser.page("/storage");
  assert.match(before.html, /<a href="\/login\?next=%2Fstorage">/);
  assert.equal(await browser.logIn(ACCOUNT, "stackroom-demo", "/storage"), "/storage");
  assert.deepEqual([...browser.cookies.keys()].sort(), [
    "login_note",
    "results_session",
    "storage_note",
    "storage_session",
  ]);
  const buckets = await browser.page("/storage");
  assert.match(buckets.html, /<bdi>odd<\/bdi>/);
  assert.match(
    buckets.html,
    /<bdi>letters<\/bdi><\/a><\/th><td class="num count" data-unit="objects">[1-9][\d,]*<\/td>/,
  );
  const policy = buckets.headers.get("Content-Security-Policy") ?? "";
  assert.match(policy, /frame-ancestors 'none'; connect-src 'self' http:\/\/127\.0\.0\.1:\d+\/;/);

  for (const key of ODD_KEYS) {
    const written = await browser.fetch(downloadPath({ account: ACCOUNT, bucket: "odd", key }), {
      method: "PUT",
      body: `bytes of ${key}`,
    });
    assert.equal(written.status, 200, key);
    await written.body?.cancel();
  }
  for (const key of ODD_KEYS) {
    const address = { account: ACCOUNT, bucket: "odd", key };
    const page = await browser.page(objectPath(address));
    assert.equal(page.status, 200, key);
    assert.doesNotMatch(page.html, /<img/);
    const file = await browser.fetch(downloadPath(address));
    assert.equal(await file.text(), `bytes of ${key}`);
    assert.match(file.headers.get("Content-Disposition") ?? "", /^attachment; filename="/);
    assert.match(file.headers.get("Content-Security-Policy") ?? "", /default-src 'none'; sandbox/);
    assert.equal(file.headers.get("X-Content-Type-Options"), "nosniff");
  }

  const root = await browser.page(folderPath({ account: ACCOUNT, bucket: "odd", prefix: "" }));
  assert.ok(root.html.includes("&lt;img src=x onerror=alert(1)>"), "markup in a name is text");
  assert.ok(root.html.includes("⟨U+202E⟩"));
  const empty = await browser.page(folderPath({ account: ACCOUNT, bucket: "odd", prefix: "a//" }));
  assert.match(empty.html, /<bdi>b\.txt<\/bdi>/);
  const found = await browser.page(folderPath({ account: ACCOUNT, bucket: "odd", prefix: "", find: "inv" }));
  assert.match(found.html, /invoice/);
  assert.doesNotMatch(found.html, /break/);
  const from = await browser.page(folderPath({ account: ACCOUNT, bucket: "odd", prefix: "", from: "line\nbreak" }));
  assert.match(from.html, /break/);
  assert.doesNotMatch(from.html, /invoice/);
  for (
    const path of [
      folderPath({ account: ACCOUNT, bucket: "none", prefix: "" }),
      objectPath({ account: ACCOUNT, bucket: "odd", key: "none" }),
    ]
  ) {
    assert.equal((await browser.page(path)).status, 404);
  }
  for (
    const [path, status, sentence] of [
      ["/storage/folder", 400, "names no bucket: its parameter “bucket” is missing"],
      ["/storage/object?bucket=odd", 400, "names no object: its parameter “key” is missing"],
      ["/storage/nowhere", 404, "There is no page at this address"],
    ] as const
  ) {
    const { status: shown, html } = await browser.page(path);
    assert.equal(shown, status, path);
    assert.match(html, new RegExp(sentence));
    assert.match(html, /<a href="\/storage[^"]*">To the buckets<\/a>/);
  }
});

whole(
  "storage door: only pages of this origin and only a login reach the gateway, and a changed password ends it",
  async (
    application,
    browser,
  ) => {
    const list = "/storage/api/buckets?account=archive%2Fcurator";
    const status = async (path: string, init?: RequestInit) => {
      const response = await browser.fetch(path, init);
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await status(list), 401);
    await browser.logIn(ACCOUNT);
    assert.equal(await status(list), 200);
    assert.equal(await status("/storage/api/buckets?account=archive%2Fother"), 401);
    for (const site of ["cross-site", "same-site"]) {
      assert.equal(await status(list, { headers: { "Sec-Fetch-Site": site } }), 403);
    }
    const key = { account: ACCOUNT, bucket: "letters", key: "new.txt" };
    const put = { method: "PUT", body: "hello", headers: { "Content-Type": "text/html" } };
    for (const Origin of ["http://elsewhere.example", "null"]) {
      assert.equal(await status(downloadPath(key), { ...put, headers: { Origin } }), 403);
    }
    const noOrigin = await fetch(new URL(downloadPath(key), application.site), {
      method: "PUT",
      body: "x",
      headers: { Cookie: `storage_session=${browser.cookies.get("storage_session")}` },
    });
    await noOrigin.body?.cancel();
    assert.equal(noOrigin.status, 403);
    assert.equal(await status(downloadPath(key), put), 200);
    const shown = await browser.fetch(`${downloadPath(key)}&disposition=inline`);
    assert.match(shown.headers.get("Content-Disposition") ?? "", /^attachment/);
    assert.equal(await shown.text(), "hello");
    for (const path of ["/storage/api/credentials", "/storage/api/auth/token", "/storage/api/mapi/tenants"]) {
      assert.equal(await status(path), 404);
    }

    const gateway = await logIn(application.site, ACCOUNT);
    const changed = await gateway.call("POST", "/mapi/tenants/archive/userAccounts/curator/changePassword", {
      newPassword: "another password 1",
      oldPassword: "stackroom-demo",
    });
    assert.equal(changed.status, 200, await changed.text());
    assert.equal(await status(list), 401);
    assert.ok(browser.cookies.has("storage_session"), "a late response clears no login that came after its request");
    assert.match((await browser.page("/storage")).html, /the store no longer accepts it/);
    assert.ok(!/storage_session=|stackroom-demo.*password/.test(application.output().replace(/^Password.*$/m, "")));
  },
);
