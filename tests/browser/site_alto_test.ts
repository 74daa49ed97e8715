import assert from "node:assert/strict";

import { altoSource, altoViewerPath, countShifts, open, openAlto, sampleAlto, siteScenarios } from "./site_fixture.ts";

const scenario = siteScenarios("page text");

scenario("lines in reading order with their confidence, as text and never as markup", async ({ page, site }) => {
  await openAlto({ page, site }, sampleAlto(30));
  await page.locator(".text-line").nth(30).waitFor();
  assert.equal(await page.title(), "0004 · SE-GÖT-1 · Stackroom");
  assert.equal(await page.textContent("h1"), "0004");
  const [hostile, first] = await page.locator(".text-line > span:first-child").all();
  assert.equal(await hostile.textContent(), "<img src=x onerror=alert(1)>");
  assert.equal(await page.locator("main img").count(), 0);
  assert.equal(await first.textContent(), "Anno 1720 den 3");
  assert.deepEqual([await first.getAttribute("class"), await first.getAttribute("title")], ["high", "100 % sure"]);
  assert.equal(await page.locator(".page-text .unknown").count(), 3);
  assert.match(
    await page.textContent("[role=status]") ?? "",
    /^31 lines · on average \d\d % sure · predicted quality 0\.87$/,
  );
  const styles = await page.evaluate(() =>
    ["high", "medium", "low", "unknown"].map((step) => {
      const { textDecorationLine, textDecorationStyle } = getComputedStyle(
        document.querySelector(`.page-text .${step}`)!,
      );
      return textDecorationLine === "none" ? "none" : textDecorationStyle;
    })
  );
  assert.deepEqual(styles, ["none", "dotted", "wavy", "dashed"]);
});

scenario("the file and the copied text, by keyboard alone", async ({ page, site }) => {
  await openAlto({ page, site }, sampleAlto(12));
  await page.locator(".text-line").nth(12).waitFor();
  await page.getByRole("link", { name: "Run log" }).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("copied").waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^<img src=x onerror=alert\(1\)>\n\nAnno 1720 den 3\nAnno 1720 den 3 Maij\n/);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "The file" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Show XML" }).getAttribute("aria-pressed"), "true");
  assert.ok(await page.isVisible(`text=CONTENT="&lt;img src=x onerror=alert(1)&gt;"`));
  await page.keyboard.press("Enter");
  await page.locator(".text-line").first().waitFor();
  // What is read out beside a line is not selected with it.
  await page.evaluate(() => getSelection()!.selectAllChildren(document.querySelector(".page-text")!));
  assert.ok(!await page.evaluate(() => getSelection()!.toString().includes("% sure")));
}, { permissions: ["clipboard-read", "clipboard-write"] });

scenario("leads to the page in the manifest viewer where the volume's manifest names it", async ({ page, site }) => {
  const manifest = { items: [{ id: "a" }, { id: "b", seeAlso: [{ id: altoSource(site) }] }] };
  await site.change({ files: { "/alto/0004.xml": sampleAlto(2), "/iiif.json": manifest } });
  const campaign = "&campaign=batch-default%2Fsvea-hovratt-1870";
  await open(page, `${altoViewerPath(site)}${campaign}`, "alto_viewer");
  const href = await page.getByRole("link", { name: "See the image" }).getAttribute("href");
  const iiif = altoSource(site).replace("alto/0004.xml", "iiif.json");
  assert.equal(href, `/uv.html#?manifest=${encodeURIComponent(iiif)}&cv=1${campaign}`);
});

scenario("what cannot be shown is said, and a damaged file is shown as it is", async ({ page, site }) => {
  const alert = () => page.locator("[role=alert]").textContent();
  const files = (content: unknown) => site.change({ files: { "/alto/0004.xml": content, "/iiif.json": {} } });
  await files(403);
  await open(page, altoViewerPath(site), "alto_viewer");
  assert.match(await alert() ?? "", /account may not read/);
  await files(`<alto><String CONTENT="<img src=x onerror=alert(1)>"`);
  await page.reload();
  assert.match(await alert() ?? "", /not well-formed XML/);
  assert.equal(
    await page.locator(".printed pre").textContent(),
    `<alto><String CONTENT="<img src=x onerror=alert(1)>"`,
  );
  assert.equal(await page.locator("main img").count(), 0);
  await files("<html/>");
  await page.reload();
  assert.match(await alert() ?? "", /XML but not ALTO/);
  await files("<alto/>");
  await page.reload();
  await page.getByText("The file has no lines of text.").waitFor();
  await page.goto("alto?src=https%3A%2F%2Fevil.example%2Fa.xml");
  assert.match(await alert() ?? "", /is not one of this site's results/);
  await page.goto("alto");
  assert.match(await alert() ?? "", /No page is named/);
}, { expected: [/40[03]/] });

scenario("each line begins on the side of its first letter, or where the file says", async ({ page, site }) => {
  const line = (text: string, attributes = "") => `<TextLine${attributes}><String CONTENT="${text}"/></TextLine>`;
  const lines = [line("שלום עולם."), line("Hej, du!"), line("(1720) سنة: 12!"), line("12", ' BASEDIRECTION="rtl"')];
  const alto = `<alto><Layout><Page><PrintSpace><TextBlock>${
    lines.join("")
  }</TextBlock></PrintSpace></Page></Layout></alto>`;
  await openAlto({ page, site }, alto);
  await page.locator(".text-line").nth(3).waitFor();
  const places = await page.evaluate(() =>
    [...document.querySelectorAll(".text-line")].map((line) => {
      const text = line.querySelector("span")!.firstChild!;
      const [range, last] = [document.createRange(), document.createRange()];
      range.selectNodeContents(text);
      last.setStart(text, text.textContent!.length - 1);
      last.setEnd(text, text.textContent!.length);
      const [own, end, box] = [range, last, line].map((each) => each.getBoundingClientRect());
      return [
        box.right - own.right < own.left - box.left ? "right" : "left",
        end.left <= own.left + 1 ? "end left" : "end right",
      ];
    })
  );
  assert.deepEqual(places, [["right", "end left"], ["left", "end right"], ["right", "end left"], [
    "right",
    "end right",
  ]]);
});

scenario("a page of 2,500 lines arrives without moving what is there", async ({ page, site }) => {
  await openAlto({ page, site }, sampleAlto(2500));
  await countShifts(page);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".text-line").length === 2501);
  assert.equal(await page.evaluate(() => globalThis.shifted), 0);
  await page.click("text=Show XML");
  await page.waitForSelector(".printed");
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await page.getByText("</alto>").waitFor();
});
