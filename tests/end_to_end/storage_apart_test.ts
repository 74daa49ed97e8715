import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";

import { downloadPath } from "@/lib/presentation/storage/storage_paths.ts";
import { startApplication } from "@/tests/application.ts";
import { StorageBrowser } from "./storage_browser.ts";

const ACCOUNT = "archive/curator";
const SIZE = 3 * 1024 * 1024 + 7;

Deno.test({
  name: "storage pages: they work through a gateway at another address, with long bodies both ways and odd keys",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
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
      const body = randomBytes(SIZE);
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
  },
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
