import type { Locator, Page } from "playwright-core";

/** Widths of windows, px: WCAG's narrowest, a phone, a tablet, a laptop, a large screen. */
const WIDTHS = [2560, 1280, 768, 390, 320];

/** What does nothing on paper. */
const CONTROLS = "header.bar, .btn, .skip, input:not(.login input, [readonly]), .segments, .run-tools, .dock";

/** What only a colour of its own shows to be chosen, marked or in trouble. */
const MARKED = ".chip, .banner, .segments label:has(:checked), mark, .line.marked, [aria-pressed=true], " +
  "[role=tab][aria-selected=true], .objs tr.open > :first-child";

/** px; a thumb needs as much. */
export const TARGET = 40;

/** How long a page has to fit its window after a change of size, ms: scripts lay parts of the viewer out anew. */
const SETTLED_MS = 10_000;

async function staysTooWide(page: Page): Promise<boolean> {
  return await page.waitForFunction(
    () => document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    undefined,
    { timeout: SETTLED_MS },
  ).then(() => false, () => true);
}

/** The widths in px at which the page is wider than its window, which has its size again afterwards. */
export async function tooNarrowWindows(page: Page): Promise<number[]> {
  const size = page.viewportSize();
  const narrow: number[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (await staysTooWide(page)) narrow.push(width);
  }
  if (size) await page.setViewportSize(size);
  return narrow;
}

/** The controls that are seen and narrower or lower than a thumb needs, as HTML. */
export async function smallTargets(controls: Locator): Promise<string[]> {
  return await controls.evaluateAll((all, least) =>
    all.filter((control) => {
      const { width, height } = control.getBoundingClientRect();
      const isShown = control.checkVisibility({ visibilityProperty: true }) && width > 1;
      return isShown && (width < least - 0.5 || height < least - 0.5);
    }).map(({ outerHTML }) => outerHTML.slice(0, 120)), TARGET);
}

/** In forced colours: what is chosen, marked or in trouble, and has neither border, outline nor underline. */
export async function withoutOutline(page: Page): Promise<string[]> {
  return await page.evaluate((marked) =>
    [...document.querySelectorAll(marked)]
      .filter((element) => {
        const { borderTopStyle, borderBottomStyle, outlineStyle, textDecorationLine } = getComputedStyle(element);
        const isForced = element.localName === "mark";
        const border = element.role === "tab" ? borderBottomStyle : borderTopStyle;
        return element.checkVisibility() && !isForced && border === "none" && outlineStyle === "none" &&
          textDecorationLine === "none";
      })
      .map(({ outerHTML }) => outerHTML.slice(0, 120)), MARKED);
}

/** What is wrong with the page on paper; its window is as wide as that. */
export async function paperFindings(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  if (await staysTooWide(page)) found.push("wider than its paper");
  const paper = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (paper !== "rgb(255, 255, 255)") found.push(`on ${paper}`);
  const controls = page.locator(CONTROLS).filter({ visible: true });
  for (const control of await controls.all()) {
    found.push(`prints ${await control.evaluate(({ outerHTML }) => outerHTML.slice(0, 120))}`);
  }
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ media: "screen" });
  return found;
}

/** Without scripts: the controls that do nothing, as HTML. */
export async function idleControls(page: Page): Promise<string[]> {
  const idle = page.locator("button:not(form button, .fold), :is(input, select):not(form *)").filter({ visible: true });
  return await idle.evaluateAll((all) => all.map(({ outerHTML }) => outerHTML));
}
