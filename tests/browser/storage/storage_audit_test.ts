import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { auditPath, downloadPath, storagePath } from "@/lib/pages/storage/storage_paths.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { idleControls } from "@/tests/browser/page_states.ts";
import { sharedBrowser } from "@/tests/browser/shared_browser.ts";
import { follow } from "@/tests/browser/site_fixture.ts";
import { sharedStorage } from "@/tests/end_to_end/shared/applications.ts";
import { findingsOf, loggedIn } from "./storage_records.ts";

const ACCOUNT = "archive/curator";
const KEYS = ["odd/<script>alert(1)</script>\u202E.txt", `odd/${"long-name-".repeat(90)}`];

Deno.test("audit pages", async (t) => {
  const application = await sharedStorage();
  const browser = await sharedBrowser();
  const site = application.site.slice(0, -1);
  const visit = { browser, site, account: ACCOUNT };
  const writer = new StorageBrowser(application.site);
  await writer.logIn(ACCOUNT, SAMPLE_PASSWORD, "/storage");
  for (const key of KEYS) {
    const address = downloadPath({ account: ACCOUNT, bucket: "letters", key });
    const response = await writer.fetch(address, { method: "PUT", body: "x" });
    assert.equal(response.status, 200, await response.text());
  }

  await t.step("without scripts an administrator finds who wrote what, and saves the records", async () => {
    const page = await loggedIn(visit, "/storage", { javaScriptEnabled: false });
    await page.reload();
    await follow(page, page.getByRole("link", { name: "Audit trail" }));
    await page.getByText("Filter", { exact: true }).click();
    await page.locator("select[name=action]").selectOption("object_write");
    await page.getByLabel("Keys that begin with").fill("odd/");
    assert.deepEqual(await idleControls(page), []);
    await follow(page, page.getByRole("button", { name: "Show these records" }));
    const rows = page.getByRole("row").filter({ hasText: "wrote an object" });
    assert.equal(await rows.count(), KEYS.length);
    await rows.filter({ hasText: "<script>alert(1)</script>⟨U+202E⟩.txt" }).getByText(ACCOUNT).waitFor();
    const href = await page.getByRole("link", { name: "Records (CSV)" }).getAttribute("href");
    const csv = await page.request.get(site + href);
    assert.equal(csv.status(), 200);
    assert.match(await csv.text(), /object_write/);
    await page.context().close();
  });

  await t.step(
    "each state is accessible, wide and narrow, light and dark, and fits its window and paper",
    async () => {
      const addresses = {
        "trail": auditPath({ account: ACCOUNT }),
        "filtered": auditPath({ account: ACCOUNT, prefix: "odd/", start: "2026-01-01T00:00" }),
        "none": auditPath({ account: ACCOUNT, actor: "none" }),
        "wrong": auditPath({ account: ACCOUNT, end: "tomorrow" }),
        "buckets": storagePath(ACCOUNT),
      };
      assert.deepEqual(await findingsOf(visit, addresses), []);
    },
  );
});
