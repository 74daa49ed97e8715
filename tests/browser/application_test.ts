import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { launch } from "./chromium.ts";
import { TIMEOUT_MS } from "./shared_browser.ts";

Deno.test("site: a reader logs in, watches campaigns move, opens one and its run log, and logs out", async () => {
  const application = await startApplication({ env: { SIMULATOR_SPEED: "30" } });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    // Without a session the page shows no data, and what it reads then leads to the login.
    await page.goto(application.site);
    await page.waitForURL(/\/login/);
    await page.getByLabel("User name").fill("archive/reader");
    await page.getByLabel("Password").fill("stackroom-demo");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(application.site);
    await page.locator("[data-island=campaign_board][data-hydrated]").waitFor();
    await page.getByRole("article").nth(5).waitFor();

    const card = page.getByRole("article").filter({ hasText: "svea-hovratt-1870" });
    await card.getByRole("button", { name: "svea-hovratt-1870", exact: true }).click();
    const rows = card.locator("tbody tr");
    await rows.filter({ hasText: "done" }).first().waitFor();
    await card.getByRole("button", { name: "Show the other" }).click();
    await card.getByText("SE-SVEAH-1870-A1-0440").waitFor({ state: "attached" });

    // At the first start the files of what is done already are written while the site runs. The campaigns move, so that
    // an address is read once: the same link may lead to another volume a moment later.
    const read = (file: string) =>
      until(file, async () => {
        const response = await page.request.get(file);
        return response.status() === 404 ? null : response;
      });
    const log = rows.filter({ hasText: "done" }).first().getByRole("link", { name: /log/ });
    const logAddress = new URL(await log.getAttribute("href") ?? "", application.site);
    await read(logAddress.searchParams.get("log") ?? "");
    await page.goto(logAddress.href);
    await page.locator("[data-island=run_viewer][data-hydrated]").waitFor();
    // Stages that went well are folded, so the line is there without being seen.
    await page.getByText("pages in manifest").first().waitFor({ state: "attached" });

    // The page of lowest quality opens in the viewer: the archive's image beside the text of the results.
    await page.goto(application.site);
    const lowest = await card.locator("a[href*='uv.html'][href*='&cv=']").first().evaluate(
      (link: HTMLAnchorElement) => ({ href: link.href, title: link.title }),
    );
    const lowestPage = /page (\S+) of/.exec(lowest.title)?.[1];
    assert.ok(lowestPage);
    const viewed = new URLSearchParams(lowest.href.split("#?")[1]);
    const manifest = await (await read(viewed.get("manifest") ?? "")).json();
    await read(manifest.items[Number(viewed.get("cv"))].seeAlso[0].id);
    await page.goto(lowest.href);
    await page.getByRole("heading", { name: `Page ${lowestPage}` }).waitFor();
    await page.locator(".text-lines li").first().waitFor();
    await page.locator(".page-marks svg").waitFor({ state: "attached" });

    await page.goto(application.site);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${application.site}login`);
    await page.goto(application.site);
    await page.waitForURL(/\/login/);
    assert.equal(await page.getByRole("article").count(), 0);
    // The browser itself writes a line for each 401.
    assert.deepEqual(complaints.filter((text) => !text.includes("401")), []);
  } finally {
    await browser.close();
    await application.stop();
  }
});
