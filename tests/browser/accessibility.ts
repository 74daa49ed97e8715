import axe from "axe-core/axe.min.js";
import type { Page } from "playwright-core";

declare global {
  // What axe-core's source leaves in the page.
  var axe: { run(options: unknown): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
}

const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe-core finds on the page as it is now. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  // The page's own policy does not hold for what the debugger puts in.
  await page.evaluate(axe.source);
  // Without the results of the rules that the page keeps: to send them took half the time.
  const violations = await page.evaluate(
    async (tags) => (await globalThis.axe.run({ runOnly: tags, resultTypes: ["violations"] })).violations,
    WCAG,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
