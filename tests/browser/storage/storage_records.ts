/** What the tests of the pages of records have in common: fixity checks and the audit trail. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

import { accessibilityFindings } from "@/tests/browser/accessibility.ts";
import { paperFindings, tooNarrowWindows, withoutOutline } from "@/tests/browser/page_states.ts";
import { TIMEOUT_MS } from "@/tests/browser/shared_browser.ts";
import { awake, startSession } from "@/tests/browser/site_fixture.ts";

/** An account on a site, in a browser. */
export interface RecordsVisit {
  readonly browser: Browser;
  /** Without a slash at its end. */
  readonly site: string;
  readonly account: string;
}

/** A page of an account in a browser profile of its own. */
export async function loggedIn(
  { browser, site, account }: RecordsVisit,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: "Europe/Stockholm",
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await startSession(page, `${site}/login`, account);
  await page.goto(site + path);
  return page;
}

const LOOKS = [
  { viewport: { width: 1280, height: 900 }, colorScheme: "light", locale: "en-GB" },
  { viewport: { width: 390, height: 844 }, colorScheme: "dark", locale: "sv-SE" },
] as const;

/**
 * What is wrong with pages, wide and narrow, light and dark, English and Swedish, in windows of any width, in forced
 * colours and on paper.
 *
 * @param addresses by the names of the states that they show
 */
export async function findingsOf(visit: RecordsVisit, addresses: Readonly<Record<string, string>>): Promise<string[]> {
  const found: string[] = [];
  for (const look of LOOKS) {
    const page = await loggedIn(visit, "/storage", look);
    page.on("pageerror", (error) => found.push(error.message));
    page.on("dialog", (dialog) => found.push(`dialog: ${dialog.message()}`));
    for (const [name, path] of Object.entries(addresses)) {
      const add = (what: string) => found.push(`${name}, ${look.locale}: ${what}`);
      await page.goto(visit.site + path);
      await awake(page);
      for (const finding of await accessibilityFindings(page)) add(finding);
      for (const width of await tooNarrowWindows(page)) add(`wider than ${width} px`);
      // Forced colours are the same in each look.
      if (look === LOOKS[0]) {
        await page.emulateMedia({ forcedColors: "active" });
        for (const finding of await withoutOutline(page)) add(finding);
        await page.emulateMedia({ forcedColors: "none" });
      }
      await page.setViewportSize({ width: 794, height: 1123 });
      for (const finding of await paperFindings(page)) add(finding);
      await page.setViewportSize(look.viewport);
    }
    await page.context().close();
  }
  return found;
}
