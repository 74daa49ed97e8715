import assert from "node:assert/strict";
import { downloadPath, folderPath, objectPath, shownPath } from "@/lib/pages/storage/storage_paths.ts";
import { utf8Value } from "@/lib/std/header_encoding.ts";
import type { Application } from "@/tests/application.ts";
import { logIn } from "@/tests/end_to_end/gateway_client.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { sharedApplication } from "./applications.ts";

const ACCOUNT = "archive/curator";

/** Keys that browsers, paths or markup might change. */
const ODD_KEYS = [
  "a//b.txt",
  "a/../b.txt",
  "..",
  "a/%2e%2e/b",
  " a+b&c=d?e#f ",
  "line\nbreak",
  "<img src=x onerror=alert(1)>",
  "invoice\u202Egpj.exe",
  "åäö/Längd 🎉.txt",
  "a".repeat(1024),
];

type Body = (application: Application, browser: StorageBrowser, t: Deno.TestContext) => Promise<void>;

function whole(name: string, body: Body): void {
  Deno.test(name, async (t) => {
    const application = await sharedApplication();
    await body(application, new StorageBrowser(application.site), t);
  });
}

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
    assert.equal(
      (await browser.fetch(downloadPath({ account: ACCOUNT, bucket: "odd", key }), {
        method: "PUT",
        body: `bytes of ${key}`,
      })).status,
      200,
      key,
    );
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

const BUCKET = "inside";
const SCRIPT = "<script>alert(1)</script>";

/** The beginning of the codestream of a JPEG 2000 image of 640 × 480 pixels. */
const JPEG_2000 = Uint8Array.fromHex("ff4fff5100290000000002800000" + "01e00000000000000000");

/** A TIFF file of 640 × 480 pixels without an image in it. */
function tiff(): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(34));
  view.setUint32(0, 0x49492a00);
  view.setUint32(4, 8, true);
  view.setUint16(8, 2, true);
  for (const [index, [tag, value]] of [[256, 640], [257, 480]].entries()) {
    const at = 10 + index * 12;
    view.setUint16(at, tag, true);
    view.setUint16(at + 2, 3, true);
    view.setUint32(at + 4, 1, true);
    view.setUint16(at + 8, value, true);
  }
  return new Uint8Array(view.buffer);
}

whole("storage objects: shown for what they are, without running what is in them", async (application, browser, t) => {
  const gateway = await logIn(application.site, ACCOUNT);
  await gateway.call("PUT", "/mapi/tenants/archive/namespaces", {
    name: BUCKET,
    hardQuota: "1 GB",
  });
  await browser.logIn(ACCOUNT, "stackroom-demo", "/storage");
  const at = (key: string) => ({ account: ACCOUNT, bucket: BUCKET, key });
  const put = async (key: string, body: BodyInit, type: string, headers: Record<string, string> = {}) => {
    const init = { method: "PUT", body, headers: { "Content-Type": type, ...headers } };
    const response = await browser.fetch(downloadPath(at(key)), init);
    assert.equal(response.status, 200, await response.text());
  };
  const page = (key: string) => browser.page(objectPath(at(key)));

  await t.step("a text is shown as text, with its beginning alone where it is long", async () => {
    await put("page.txt", `<h1>${SCRIPT}\u202e\u0007`.padEnd(60), "text/html", {
      "x-amz-meta-note": SCRIPT,
      "x-amz-meta-place": utf8Value("Åbo 日本\u202e"),
    });
    const { html } = await page("page.txt");
    assert.ok(html.includes("&lt;h1>&lt;script>alert(1)&lt;/script>⟨U+202E⟩⟨U+0007⟩"), html);
    assert.ok(html.includes("<bdi>&lt;script>alert(1)&lt;/script></bdi>"), "metadata");
    assert.ok(html.includes("Åbo 日本⟨U+202E⟩"), "metadata in UTF-8");
    assert.ok(!html.includes(SCRIPT));
    await put("long.log", "line\n".repeat(100_000), "text/plain");
    const long = (await page("long.log")).html;
    assert.ok(/Only the first 262\skB are shown\./.test(long), "the part that is shown is named");
    assert.ok(long.length < 400_000, `${long.length}`);
  });

  await t.step("JSON is laid out, a table has its cells, neither runs what is in it", async () => {
    await put("a.json", JSON.stringify({ [SCRIPT]: [SCRIPT, 12345678901234567890n.toString()] }), "application/json");
    const json = (await page("a.json")).html;
    assert.ok(json.includes("  &quot;&lt;script>alert(1)&lt;/script>&quot;: ["), json);
    await put("a.csv", `name;${SCRIPT}\n"x;y";${SCRIPT}\n`, "text/csv");
    const csv = (await page("a.csv")).html;
    assert.match(csv, /<th scope="col">name<\/th>/);
    assert.match(csv, /<td>x;y<\/td><td>&lt;script>/);
    for (const html of [json, csv]) assert.ok(!html.includes(SCRIPT));
  });

  await t.step(
    "pictures, sound, film and PDF come through the storage API proxy, images that browsers do not show tell their size",
    async () => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`;
      await put("a.svg", svg, "image/svg+xml");
      assert.match((await page("a.svg")).html, /<img src="\/storage\/api\/[^"]+disposition=inline" alt="a.svg"/);
      const shown = await browser.fetch(shownPath(at("a.svg")));
      assert.equal(await shown.text(), svg);
      assert.match(shown.headers.get("Content-Disposition") ?? "", /^attachment/);
      assert.match(shown.headers.get("Content-Security-Policy") ?? "", /sandbox/);
      await put("a.tif", tiff(), "image/tiff");
      assert.match((await page("a.tif")).html, /640 × 480 pixels/);
      await put("a.jp2", JPEG_2000, "image/jp2");
      assert.match((await page("a.jp2")).html, /640 × 480 pixels.*JPEG 2000/s);
      await put("a.mp4", "film", "video/mp4");
      assert.match((await page("a.mp4")).html, /<video [^>]*src="\/storage\/api\//);
      const part = await browser.fetch(shownPath(at("a.mp4")), { headers: { Range: "bytes=1-2" } });
      assert.deepEqual([part.status, await part.text()], [206, "il"]);
      await put("a.pdf", "%PDF-1.7", "application/pdf");
      assert.match((await page("a.pdf")).html, /<a class="btn" href="[^"]+" target="_blank" rel="noopener">/);
      const pdf = await browser.fetch(shownPath(at("a.pdf")));
      await pdf.body?.cancel();
      assert.match(pdf.headers.get("Content-Disposition") ?? "", /^inline/);
      assert.doesNotMatch(pdf.headers.get("Content-Security-Policy") ?? "", /sandbox/);
      assert.equal(pdf.headers.get("X-Content-Type-Options"), "nosniff");
    },
  );

  await t.step("no object is served as a script or a style of our own pages", async () => {
    await put("evil.js", "alert(1)", "text/javascript");
    const statusFor = async (destination: string) => {
      const response = await browser.fetch(shownPath(at("evil.js")), { headers: { "Sec-Fetch-Dest": destination } });
      await response.body?.cancel();
      return response.status;
    };
    for (const destination of ["script", "style", "worker", "serviceworker", "iframe", "object", "embed"]) {
      assert.equal(await statusFor(destination), 403, destination);
    }
    for (const destination of ["empty", "document", "image"]) assert.equal(await statusFor(destination), 200);
  });

  await t.step("an object is no document of another type, and is shared by no cache", async () => {
    await put("two.pdf", SCRIPT, "application/pdf;, text/html", { "Cache-Control": "public, max-age=99" });
    const shown = await browser.fetch(shownPath(at("two.pdf")));
    assert.equal(await shown.text(), SCRIPT);
    assert.match(shown.headers.get("Content-Disposition") ?? "", /^attachment/);
    assert.match(shown.headers.get("Content-Security-Policy") ?? "", /sandbox/);
    assert.equal(shown.headers.get("Cache-Control"), "private, no-cache");
    await put("a.txt/acl", SCRIPT, "text/html");
    const account = encodeURIComponent(ACCOUNT);
    const cachingOf = async (path: string) => {
      const response = await browser.fetch(`/storage/api/${path}account=${account}&bucket=${BUCKET}`);
      await response.body?.cancel();
      return [response.status, response.headers.get("Cache-Control")];
    };
    const folder = "buckets/:bucket/objects";
    assert.deepEqual(await cachingOf(`${folder}?`), [200, "private, no-store"]);
    assert.deepEqual(await cachingOf(`${folder}/:key?key=none&`), [404, "private, no-store"]);
    assert.deepEqual(await cachingOf(`${folder}/:task_id?task_id=two.pdf&`), [404, "private, no-store"]);
    await put("a/evil", SCRIPT, "text/html", { "Content-Disposition": "inline" });
    const evil = await browser.fetch(`/storage/api/${folder}/:key/evil?account=${account}&bucket=${BUCKET}&key=a`);
    assert.equal(await evil.text(), SCRIPT);
    assert.match(evil.headers.get("Content-Disposition") ?? "", /^attachment/);
    const document = await browser.fetch(
      `/storage/api/${folder}/:key/acl?account=${account}&bucket=${BUCKET}&key=a.txt&as=object`,
    );
    assert.ok(!(await document.text()).includes(SCRIPT));
  });

  await t.step("a manifest leads to the viewer, and what is no text says so", async () => {
    const context = "http://iiif.io/api/presentation/3/context.json";
    await put("m.json", JSON.stringify({ "@context": context, type: "Manifest" }), "application/json");
    assert.match((await page("m.json")).html, /href="\/uv\.html#\?manifest=%2Fstorage%2Fapi%2F/);
    await put("b.txt", new Uint8Array([0, 1, 2, 3]), "text/plain");
    assert.match((await page("b.txt")).html, /By its type \(text\/plain\) the object is text, but/);
    await put("c.txt", new Uint8Array([0, 1, 2, 3]), "application/octet-stream");
    assert.match((await page("c.txt")).html, /By its name the object is text, but/);
    await put("none.txt", "", "text/plain");
    assert.match((await page("none.txt")).html, /The object is empty\./);
    await put("z.zip", "PK", "application/zip");
    assert.match((await page("z.zip")).html, /This kind of object cannot be shown here\./);
  });
});

whole(
  "storage API proxy: only pages of this origin and only a login reach the gateway, and a changed password ends it",
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
    assert.equal(
      (await fetch(new URL(downloadPath(key), application.site), {
        method: "PUT",
        body: "x",
        headers: { Cookie: `storage_session=${browser.cookies.get("storage_session")}` },
      })).status,
      403,
    );
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
    const again = await logIn(application.site, ACCOUNT, "another password 1");
    const before = { newPassword: "stackroom-demo", oldPassword: "another password 1" };
    await again.json("POST", "/mapi/tenants/archive/userAccounts/curator/changePassword", before);
  },
);
