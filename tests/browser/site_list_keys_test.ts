import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { accessibilityFindings } from "./accessibility.ts";
import { open, withPage } from "./site_fixture.ts";

/** More elements than a key needs to pass on the way to any control of the list. */
const MAX_STEPS = 60;

/** Presses Tab until an element that matches has the focus, which must be seen wherever it goes. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let step = 0; step < MAX_STEPS; step++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate((selector) => {
      const element = document.activeElement;
      if (!element) return null;
      // A radio button of a segmented control lies over its label, which shows the focus.
      const shown = element.closest("label") ?? element;
      const { top, bottom } = element.getBoundingClientRect();
      const { outlineStyle, outlineWidth } = getComputedStyle(shown);
      return {
        isGoal: element.matches(selector),
        isSeen: bottom > 0 && top < innerHeight && outlineStyle !== "none" && parseFloat(outlineWidth) >= 2,
        html: element.outerHTML.slice(0, 200),
      };
    }, selector);
    assert.ok(focus?.isSeen, `the focus is not seen: ${focus?.html}`);
    if (focus.isGoal) return;
  }
  assert.fail(`no Tab leads to ${selector}`);
}

Deno.test(
  "list by keys: Tab and arrows lead through filter, card and volumes to a run log, and the focus is always seen",
  withPage({ viewport: { width: 1280, height: 700 } }, async (visit) => {
    const { page } = visit;
    await open(visit);
    await tabTo(page, ".segments input");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/\?state=running$/);
    await tabTo(page, "[data-campaign='batch-default/svea-hovratt-1870'] .fold");
    await page.keyboard.press("Enter");
    await page.locator("tbody[data-chunk] tr").nth(7).waitFor();
    await tabTo(page, ".volume-segments input");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.locator("tbody[data-chunk] .chip", { hasText: "active" }).first().waitFor();
    await tabTo(page, ".file[title='Run log']");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/log\?/);
    await page.locator("[data-island=run_viewer][data-hydrated]").waitFor();
    // The run has written no summary.
  }, [/Failed to load resource/]),
);

Deno.test(
  "list in forced colours: states are words with an edge, the chosen filter has one, and it is accessible",
  withPage({ forcedColors: "active", viewport: { width: 1280, height: 2000 } }, async (visit) => {
    const { page } = visit;
    await open(visit);
    const card = page.locator("article", { hasText: "göteborgs-domkapitel-1790" });
    await card.locator(".fold").click();
    await card.locator("tbody[data-chunk] tr").first().waitFor();
    const chips = await page.locator(".chip").evaluateAll((all) =>
      all.map((chip) => [chip.textContent, getComputedStyle(chip).borderTopStyle])
    );
    assert.ok(chips.length > 8);
    for (const [text, border] of chips) assert.ok(text !== "" && border === "solid", `${text}: ${border}`);
    const outlines = await page.locator(".segments label").evaluateAll((all) =>
      all.map((label) => getComputedStyle(label).outlineStyle)
    );
    assert.deepEqual(outlines, ["solid", "none", "none", "none", "none"]);
    assert.deepEqual(await accessibilityFindings(page), []);
  }),
);
