import axe from "axe-core/axe.min.js";
import type { Page } from "playwright-core";

declare global {
  // What axe-core's source leaves in the page.
  var axe: { run(options: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
}

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The one rule whose result depends on colours: it alone is asked in another theme of a page that was looked at. */
const COLOURS = ["color-contrast"];

/** What axe-core finds on the page as it is now. */
export function accessibilityFindings(page: Page): Promise<string[]> {
  return findings(page, { type: "tag", values: WCAG });
}

/** What axe-core finds in the colours of a page that {@linkcode accessibilityFindings} has looked at in other ones. */
export function colourFindings(page: Page): Promise<string[]> {
  return findings(page, { type: "rule", values: COLOURS });
}

async function findings(page: Page, runOnly: { readonly type: string; readonly values: string[] }): Promise<string[]> {
  // The page's own policy does not hold for what the debugger puts in.
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  // Without the results of the rules that the page keeps: to send them took half the time.
  const violations = await page.evaluate(
    async (runOnly) => (await globalThis.axe.run({ runOnly, resultTypes: ["violations"] })).violations,
    runOnly,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
