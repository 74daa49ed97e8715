import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { launch } from "./chromium.ts";
import { TIMEOUT_MS } from "./shared_browser.ts";

Deno.test("API page: it is accessible, Authorize logs in, and an operation is tried out with the token", async () => {
  const application = await startApplication();
  const browser = await launch();
  try {
    const page = await browser.newPage({ reducedMotion: "reduce" });
    page.setDefaultTimeout(TIMEOUT_MS);
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(application.site) && !request.url().startsWith("data:")) {
        foreign.push(request.url());
      }
    });

    await page.goto(`${application.site}docs`);
    await page.locator(".opblock-summary-control").first().click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Authorize" }).first().click();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await accessibilityFindings(page), [], colorScheme);
    }
    const dialog = page.locator(".dialog-ux");
    await dialog.locator("#oauth_username").fill("archive/curator");
    await dialog.locator("#oauth_password").fill("stackroom-demo");
    await dialog.getByRole("button", { name: "Apply given OAuth2 credentials" }).click();
    await dialog.getByRole("button", { name: "Remove authorization" }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    // The page makes its sections as they come into sight.
    await page.waitForFunction(() => {
      scrollBy(0, innerHeight / 2);
      return document.querySelector('.opblock-summary-path[data-path="/api/v1/buckets"]') !== null;
    });
    const operation = page.locator(".opblock-get").filter({
      has: page.locator('.opblock-summary-path[data-path="/api/v1/buckets"]'),
    });
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table .response");
    await answer.waitFor();
    assert.equal((await answer.locator(".response-col_status").textContent())?.trim().slice(0, 3), "200");
    assert.match(await answer.locator(".highlight-code").textContent() ?? "", /campaigns/);

    assert.deepEqual(foreign, []);
    assert.deepEqual(problems, []);
    for (const width of [2560, 1280, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `at ${width} px the page is ${overflow} px wider than its window`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    // Nothing is half below the bar, where its target would count as too small: how far the page was scrolled above
    // depends on the speed of the machine.
    await page.evaluate(() => scrollTo(0, 0));
    await page.emulateMedia({ forcedColors: "active" });
    assert.deepEqual(await accessibilityFindings(page), [], "forced colours");
    await page.emulateMedia({ forcedColors: "none", media: "print", colorScheme: "dark" });
    assert.equal(await page.locator("header.bar").isVisible(), false);
    assert.equal(await page.getByRole("button", { name: "Authorize" }).filter({ visible: true }).count(), 0);
    assert.deepEqual(
      await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, document.getAnimations().length]),
      ["rgb(255, 255, 255)", 0],
    );
    const shots = Deno.env.get("SCREENSHOTS");
    if (shots) await page.screenshot({ path: `${shots}/docs.png` });
  } finally {
    await browser.close();
    await application.stop();
  }
});
