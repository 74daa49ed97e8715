import assert from "node:assert/strict";

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import { launch } from "./chromium.ts";
import { type FakeSite, startFakeSite } from "./site_server.ts";

/** A page, the site it is on, and what it complained of. */
export interface Visit {
  readonly page: Page;
  readonly site: FakeSite;
}

/**
 * Runs a test on a fresh browser profile. Errors of the page, and requests that a policy refuses, fail the test.
 *
 * @param expected texts of console errors that belong to the test
 */
export function withPage(
  options: BrowserContextOptions,
  test: (visit: Visit) => Promise<void>,
  expected: readonly RegExp[] = [],
) {
  return async () => {
    const site = await startFakeSite();
    let browser: Browser | null = null;
    try {
      browser = await launch();
      const context = await browser.newContext({ timezoneId: "Europe/Stockholm", ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        const isExpected = expected.some((text) => text.test(message.text()));
        if (message.type() === "error" && !isExpected) complaints.push(message.text());
      });
      await test({ page, site });
      assert.deepEqual(complaints, []);
    } finally {
      await browser?.close();
      await site.stop();
    }
  };
}

/** Goes to a page, logging in on the way, and waits until its islands are awake. */
export async function open({ page, site }: Visit, path = "", island = "campaign_board"): Promise<void> {
  await page.goto(`${site.url}login?next=${encodeURIComponent(`/${path}`)}`);
  await page.fill("[name=username]", "åsa");
  await page.fill("[name=password]", "stackroom-demo");
  await page.click("button[type=submit]");
  await page.waitForURL(site.url + path);
  await page.waitForSelector(`[data-island=${island}][data-hydrated]`);
}

/** The address of a run log's page. */
export function logPath(site: FakeSite): string {
  return `log?log=${encodeURIComponent(`${site.url}results/batch-default/status/logs/p/SE-G%C3%96T-1.txt`)}&live=1`;
}
