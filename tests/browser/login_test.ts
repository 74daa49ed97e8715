import assert from "node:assert/strict";

import type { BrowserContextOptions, Page } from "playwright-core";

import { type Application, startApplication } from "@/tests/application.ts";
import { launch } from "./chromium.ts";
import { TIMEOUT_MS } from "./shared_browser.ts";
import { follow } from "./site_fixture.ts";

/** Runs a test on the pages of the application with its embedded store, each visit in a browser profile of its own. */
async function withApplication(
  test: (application: Application, visit: (options?: BrowserContextOptions) => Promise<Page>) => Promise<void>,
): Promise<void> {
  const application = await startApplication();
  const browser = await launch();
  try {
    await test(application, async (options) => {
      const context = await browser.newContext({ timezoneId: "Europe/Stockholm", ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(TIMEOUT_MS);
      return page;
    });
  } finally {
    await browser.close();
    await application.stop();
  }
}

async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.fill("[name=username]:visible", username);
  await page.fill("[name=password]:visible", password);
  await follow(page, page.getByRole("button", { name: "Log in" }));
}

Deno.test("login: with scripts and without, a wrong password keeps the name, a lock says when it ends, a logout is confirmed, and one click looks around", () =>
  withApplication(async ({ site, output }, visit) => {
    for (const javaScriptEnabled of [true, false]) {
      const page = await visit({ javaScriptEnabled });
      const next = "log?log=a&live=1#L3";
      await page.goto(`${site}login?next=${encodeURIComponent(`/${next}`)}`);
      const username = `archive/nobody-${javaScriptEnabled}`;
      await logIn(page, username, "wrong");
      await page.getByText("The name or the password is wrong.").waitFor();
      assert.equal(await page.inputValue("[name=username]:visible"), username);
      await page.locator("[name=password]:focus").waitFor();
      assert.ok(!page.url().includes(username) && !output().includes(username));
      for (let n = 0; n < 10; n++) await logIn(page, username, `wrong ${n}`);
      const lock = page.getByText(javaScriptEnabled ? /Try again at \d\d:\d\d:\d\d\./ : /Try again in \d seconds?\./);
      await lock.waitFor();
      if (javaScriptEnabled) await page.getByText("You can try again now.").waitFor();

      await logIn(page, "archive/reader", "stackroom-demo");
      await page.waitForURL(site + next);
      await follow(page, page.getByRole("button", { name: "Log out" }));
      await page.getByText("You are logged out.").waitFor();
    }

    const page = await visit({ javaScriptEnabled: false });
    await page.goto(`${site}login?next=${encodeURIComponent("/?a=b")}`);
    await page.getByRole("button", { name: "Look around as reader" }).click();
    await page.waitForURL(`${site}?a=b`);
    await page.goto(`${site}login`);
    await page.getByText("You are logged in as reader.").waitFor();
  }));
