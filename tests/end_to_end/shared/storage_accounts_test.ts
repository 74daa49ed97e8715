import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { downloadPath, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { startApplication } from "@/tests/application.ts";
import { accountOf, type GatewayClient, logIn } from "@/tests/end_to_end/gateway_client.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { sharedApplication } from "./applications.ts";

const ACCOUNT = "archive/curator";

Deno.test("storage pages: each login opens what accepts it, several stand side by side, and a logout ends them all", async () => {
  const application = await sharedApplication();
  const browser = new StorageBrowser(application.site);
  assert.equal(await browser.logIn(ACCOUNT, "wrong"), "/login?error=401");
  assert.equal(browser.cookies.has("storage_session"), false);
  assert.equal(await browser.logIn("curator"), "/");
  assert.match((await browser.page("/storage")).html, /title="archive\/curator"/);
  const other = new StorageBrowser(application.site);
  await other.logIn("research/researcher");
  const campaigns = await other.page("/");
  const onlyStorage = /This login opens the storage only: the campaigns open with accounts of the tenant archive\./;
  assert.match(campaigns.html, /You are logged in as research\/researcher\. This login opens the storage only/);
  assert.doesNotMatch(campaigns.html, /data-island="campaign_board"/, "which would lead to the login");
  assert.match((await other.page("/")).html, onlyStorage, "as long as they are closed");
  assert.doesNotMatch((await other.page("/login")).html, /Your session has ended/);
  assert.doesNotMatch((await other.page("/storage")).html, onlyStorage, "once on the side that is open");
  assert.match(campaigns.html, /<form method="post" action="\/logout">/);
  assert.equal(await browser.logIn("research/researcher"), "/storage?account=research%2Fresearcher");
  assert.match((await browser.page("/storage?account=research%2Fresearcher")).html, onlyStorage);
  assert.equal(await browser.logIn("admin", "stackroom-demo", "/storage"), "/storage");
  assert.match((await browser.page("/storage?account=admin")).html, /system level has no buckets/);
  assert.equal(await browser.logIn("admin", "wrong"), "/login?error=401");
  assert.equal(await browser.logIn("nobody/at-all"), "/login?error=401");
  // Ten wrong passwords of an account are ten guesses, not twenty, though both sides refuse each.
  const guesses = [];
  for (let n = 0; n < 11; n++) guesses.push(await browser.logIn("archive/guessed", `wrong ${n}`));
  assert.deepEqual(guesses, [...Array(10).fill("/login?error=401"), "/login?error=429"]);

  await browser.logIn("archive/reader", "stackroom-demo", "/storage");
  const folderOf = async (account: string) =>
    (await browser.page(folderPath({ account, bucket: "campaigns", prefix: "" }))).html;
  const readers = await folderOf("archive/reader");
  assert.match(readers, /You may read but not change this bucket\. The owner of the bucket can allow that\./);
  assert.doesNotMatch(readers, /New folder|class="drop"|btn primary/);
  const curators = await folderOf(ACCOUNT);
  assert.match(curators, /New folder/);
  assert.doesNotMatch(curators, /You may (?:read|not)/);
  assert.match((await browser.page("/storage?account=archive%2Fcurator")).html, /<bdi>letters<\/bdi>/);
  assert.match(
    (await browser.page("/storage?account=archive%2Fother")).html,
    /You are not logged in as archive\/other\./,
  );

  assert.match(curators, /<input type="hidden" name="account" value="archive\/curator"\/?>/);
  assert.equal(await browser.logOut("archive/reader"), "/storage");
  assert.match(await folderOf("archive/reader"), /You are not logged in as archive\/reader\./);
  assert.match(await folderOf(ACCOUNT), /New folder/, "the other logins go on");
  // What a browser sends once the cookie of one of its sessions has expired.
  const isSession = ([name]: readonly [string, string]) => name !== "storage_session";
  const Cookie = [...browser.cookies].filter(isSession).map((pair) => pair.join("=")).join("; ");
  const withoutFirst = async (path: string) => await (await browser.fetch(path, { headers: { Cookie } })).text();
  const address = folderPath({ account: ACCOUNT, bucket: "letters", prefix: "" });
  const over = await withoutFirst(address);
  assert.match(over, /Your session for archive\/curator has ended/);
  assert.ok(over.includes(`href="/login?next=${encodeURIComponent(address)}"`), "the way back");
  const start = await withoutFirst("/storage");
  assert.match(start, /Your session for archive\/curator has ended/);
  assert.doesNotMatch(start, /Your session for research/);

  const copied = browser.cookies.get("storage_session");
  assert.equal(await browser.logOut(), "/login");
  assert.equal(
    (await browser.fetch("/storage/api/buckets", {
      headers: { Cookie: `storage_session=${copied}` },
    })).status,
    401,
    "a copy of the cookie opens nothing",
  );
  assert.deepEqual([...browser.cookies.keys()], ["login_note"]);
});

Deno.test("whole application: an account is refused what it may not touch, and a tenant that does not exist opens nothing", async () => {
  const { site } = await sharedApplication();
  const reader = await logIn(site, "archive/reader");
  const { buckets } = await reader.json("GET", "/buckets");
  assert.ok(Array.isArray(buckets));
  assert.deepEqual(buckets.map(({ Name }) => Name), ["campaigns"]);
  // An account of the system level gains nothing by naming a tenant that does not exist.
  const [stranger, nowhere, sneaky] = await Promise.all([
    logIn(site, "archive/reader", "not-the-password"),
    logIn(site, "nosuch/curator"),
    logIn(site, "nosuch/admin"),
  ]);
  const refused: [client: GatewayClient, method: string, path: string, status: number, body?: unknown][] = [
    [reader, "GET", "/buckets/letters/objects", 403],
    [reader, "HEAD", "/buckets/maps", 403],
    [reader, "GET", `/buckets/letters/objects/${encodeURIComponent("1794/Åbo, 3 maj.txt")}`, 403],
    [reader, "PUT", "/buckets/campaigns/objects/x", 403, "x"],
    [reader, "POST", "/buckets", 403, { bucket: "mine" }],
    [reader, "DELETE", "/buckets/campaigns", 403],
    [reader, "PUT", "/mapi/tenants/archive/namespaces", 403, { name: "mine" }],
    [reader, "GET", "/mapi/tenants", 403],
    [stranger, "HEAD", "/buckets/campaigns", 403],
    [stranger, "GET", "/buckets", 401],
    [nowhere, "GET", "/buckets", 403],
    [sneaky, "GET", "/mapi/tenants", 403],
  ];
  for (const [client, method, path, status, body] of refused) {
    assert.equal((await client.call(method, path, body)).status, status, `${method} ${path}`);
  }
});

Deno.test("storage pages: a cookie from before its account was disabled or deleted never works again", async () => {
  const application = await sharedApplication();
  const admin = await logIn(application.site, ACCOUNT);
  const users = "/mapi/tenants/archive/userAccounts";
  const password = "secret-12";
  const create = () => admin.json("PUT", `${users}?password=${password}`, accountOf("Eva"));
  const enable = (enabled: boolean) => admin.json("POST", `${users}/eva`, { enabled });
  const session = async () => {
    const browser = new StorageBrowser(application.site);
    await browser.logIn("archive/EVA", password, "/storage");
    const Cookie = `storage_session=${browser.cookies.get("storage_session")}`;
    return async () => {
      const response = await fetch(`${application.site}storage/api/buckets`, { headers: { Cookie } });
      await response.body?.cancel();
      return response.status;
    };
  };
  await create();
  const [used, unused, other] = [await session(), await session(), await session()];
  assert.deepEqual([await used(), await unused()], [200, 200]);
  await enable(false);
  assert.equal(await used(), 401);
  await enable(true);
  assert.deepEqual([await used(), await unused()], [401, 401]);
  const later = await session();
  assert.equal(await later(), 200, "a new login works");
  await admin.json("POST", `${users}/eva`, { enabled: true, fullName: "E." });
  assert.equal(await later(), 200, "a change that does not disable it ends nothing");
  await admin.json("DELETE", `${users}/Eva`);
  await create();
  assert.deepEqual([await later(), await other()], [401, 401]);

  await admin.json("DELETE", `${users}/eva`);
});

const SIZE = 3 * 1024 * 1024 + 7;

Deno.test("storage pages: they work through a gateway at another address, with long bodies both ways and odd keys", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/session-key`, randomBytes(32).toString("base64"));
  const gateway = await startApplication({ env: { ROLES: "gateway", EMBEDDED: "store", TRUSTED_HOPS: "1" } });
  const web = await startApplication({
    env: {
      ROLES: "web",
      EMBEDDED: "off",
      HOST: "127.0.0.1",
      CAMPAIGN_WEB_SITE_ONLY: "1",
      GATEWAY_URL: gateway.site,
      RESULTS_SESSION_KEY_FILE: `${folder}/session-key`,
    },
  });
  try {
    const browser = new StorageBrowser(web.site);
    assert.equal(await browser.logIn(ACCOUNT, "wrong"), "/login?error=401");
    assert.equal(await browser.logIn(ACCOUNT), "/storage?account=archive%2Fcurator");
    assert.deepEqual([...browser.cookies.keys()].sort(), ["login_note", "storage_note", "storage_session"]);
    assert.match((await browser.page("/storage")).html, /<bdi>letters<\/bdi>/);
    const body = new Uint8Array(randomBytes(SIZE));
    for (const key of ["long.bin", "a/../b", ".."]) {
      const path = downloadPath({ account: ACCOUNT, bucket: "letters", key });
      const put = await browser.fetch(path, { method: "PUT", body });
      assert.equal(put.status, 200, await put.text());
      const got = new Uint8Array(await (await browser.fetch(path)).arrayBuffer());
      assert.equal(digest(got), digest(body), key);
    }
    await gateway.stop();
    const outage = await browser.page("/storage");
    assert.equal(outage.status, 502);
    assert.match(outage.html, /The store cannot be reached/);
    assert.ok(browser.cookies.has("storage_session"), "an outage ends no login");
    assert.equal(await browser.logIn(ACCOUNT), "/login?error=502");
  } finally {
    await Promise.all([gateway.stop().catch(() => {}), web.stop()]);
    await Deno.remove(folder, { recursive: true });
  }
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
