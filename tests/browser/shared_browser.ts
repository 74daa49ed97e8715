import assert from "node:assert/strict";

import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import { sharedByFile } from "@/tests/shared_by_file.ts";
import { launch } from "./chromium.ts";

/** How long a page may take for one step, ms: far more than it does, also on a machine that is busy. */
export const TIMEOUT_MS = 150_000;

/** The browser of a file's tests, each of which opens a context of its own and closes it. */
export const sharedBrowser: () => Promise<Browser> = sharedByFile(launch, (browser) => browser.close());

/**
 * Runs a test on a page in a fresh profile of the file's browser. Errors of the page and on its console fail the test.
 *
 * @param expected texts of console errors that belong to the test
 */
export async function onFreshPage(
  options: BrowserContextOptions,
  test: (page: Page) => Promise<void>,
  expected: readonly RegExp[] = [],
): Promise<void> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ timezoneId: "Europe/Stockholm", ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      const isExpected = expected.some((text) => text.test(message.text()));
      if (message.type() === "error" && !isExpected) complaints.push(message.text());
    });
    await test(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}
