import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import {
  altoViewerPath,
  logPath,
  open,
  openLog,
  openRun,
  runPath,
  sampleRunManifest,
  siteScenarios,
} from "./site_fixture.ts";

const scenario = siteScenarios("log", { viewport: { width: 1280, height: 800 } });

scenario("stages, folded where they went well, and followed until the run ends", async ({ page, site }) => {
  await page.clock.install();
  await open(page, logPath(site), "run_viewer");
  assert.equal(await page.textContent("h1"), "SE-GÖT-1");
  await page.getByText("live", { exact: true }).waitFor();
  assert.deepEqual(await page.locator(".stage h2").allTextContents(), [
    "Reading the manifest",
    "Checking earlier results",
    "Loading the model",
    "Processing pages",
  ]);
  assert.ok(!await page.isVisible("text=201 pages in manifest"));
  assert.ok(await page.isVisible("text=ValueError: sidan är tom"));
  assert.ok(await page.isVisible("text=12 requests"));
  await site.change({ log: "2026-11-21 08:15:00,250 INFO [v] COMPLETE 201 pages in 9 s\n" });
  await page.clock.fastForward(16_000);
  await page.getByText("finished", { exact: true }).waitFor();
  await page.getByText("Follow the end").waitFor({ state: "hidden" });
});

scenario("without a session log and page text lead to the login and back", async ({ page, site }) => {
  for (const path of [logPath(site), altoViewerPath(site)]) {
    await page.goto(path);
    await page.waitForURL(/\/login\?next=/);
    assert.equal(new URL(page.url()).searchParams.get("next"), `/${path}`);
  }
}, { expected: [/401/] });

scenario("an address outside the results is refused in words", async ({ page }) => {
  await page.goto("log?log=https%3A%2F%2Fevil.example%2Fa.txt");
  assert.match(await page.textContent("[role=alert]") ?? "", /is not one of this site's results/);
}, { expected: [/400/] });

scenario("an address of a line opens all that it lies in, goes there once, and marks it", async ({ page, site }) => {
  await page.clock.install();
  await open(page, logPath(site), "run_viewer");
  await page.goto("about:blank");
  await page.goto(`${logPath(site)}#L9`);
  const line = page.locator("#L9.marked");
  await line.waitFor();
  assert.ok(
    await page.evaluate(() => {
      const { top, bottom } = document.querySelector("#L9")!.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }),
  );
  await page.evaluate(() => scrollTo(0, 0));
  const { log } = await (await page.request.get("_test")).json();
  await site.change({ log: `${log}2026-11-21 08:20:00,250 INFO page 0010 done\n` });
  await page.clock.fastForward(16_000);
  await page.getByText("page 0010 done").waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => scrollY), 0);
  await page.click("text=Checking earlier results");
  await page.locator("#L2 > a").click();
  await page.locator("#L2.marked").waitFor();
  assert.equal(await page.locator(".marked").count(), 1);
  assert.equal(new URL(page.url()).hash, "#L2");
  await page.getByText("Link to line 2 copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
}, { viewport: { width: 1000, height: 400 }, permissions: ["clipboard-read", "clipboard-write"] });

scenario("the page follows a reader at the end who wants to, and moves no other", async ({ page, site }) => {
  await page.clock.install();
  await site.change({ log: pagesLog(200) });
  await open(page, logPath(site), "run_viewer");
  const isAtEnd = () => page.waitForFunction(() => scrollY > 0 && scrollY + innerHeight >= document.body.scrollHeight);
  const grow = async (pages: number) => {
    await site.change({ log: pagesLog(pages) });
    await page.clock.fastForward(16_000);
    await page.getByText(`${3 + 2 * pages} lines`).waitFor();
  };
  const position = () => page.evaluate(() => scrollY);
  await page.getByText("403 lines").waitFor();
  await isAtEnd();
  await grow(230);
  await isAtEnd();
  await page.locator("#L463").getByText("page 0230 read").waitFor();

  await page.evaluate(() => scrollBy(0, -300));
  const above = await position();
  await grow(260);
  assert.equal(await position(), above);

  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await isAtEnd();
  await page.getByRole("checkbox", { name: "Follow the end" }).uncheck();
  const end = await position();
  await grow(290);
  assert.equal(await position(), end);
}, { viewport: { width: 1000, height: 500 } });

scenario("a link from another site ends on the page as the logged-in reader sees it", async ({ page, site }) => {
  await open(page, logPath(site), "run_viewer");
  for (const _ of [1, 2]) {
    // The link of a mail: the first page carries no cookie.
    await page.route(
      "https://mail.example/",
      (route) => route.fulfill({ contentType: "text/html", body: `<a href="${site.url}${logPath(site)}#L3">log</a>` }),
    );
    await page.goto("https://mail.example/");
    await page.click("a");
    await page.waitForSelector(".bar .user");
    await page.locator("#L3.marked").waitFor();
  }
});

scenario("the run's manifest is summed up, with links to each page and its text", async ({ page, site }) => {
  await openRun({ page, site }, 120);
  const figures = page.locator(".figures");
  await figures.getByText("15 min 12 s").waitFor();
  assert.match(await figures.innerText(), /115\s*of 120/);
  assert.equal(await page.locator(".page-grid a").count(), 120);
  assert.equal(await page.locator(".slowest li").count(), 5);
  assert.match(await page.locator(".lost-pages li").first().innerText(), /^0008 ValueError: sidan är tom <img/);

  await page.click("text=Pages as a table");
  const rows = page.locator(".run-pages tbody tr:has(th)");
  await rows.nth(49).waitFor();
  assert.equal(await rows.count(), 50);
  await page.click("text=Show the other 70");
  await rows.nth(119).waitFor();
  assert.equal(await rows.count(), 120);
  // The page that was lost has no canvas, so that the next one is where it would have been.
  const hrefs = await rows.nth(8).locator("a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  const viewer = `${site.url}results/batch-default/p/SE-G%C3%96T-1/iiif.json`;
  assert.deepEqual(hrefs, [
    `/uv.html#?manifest=${encodeURIComponent(viewer)}&cv=7`,
    `/alto?src=${encodeURIComponent(viewer.replace("iiif.json", "alto/0009.xml"))}`,
  ]);
  assert.match(await page.locator(".run-pages .error").first().innerText(), /^ValueError: sidan är tom <img/);
  await page.click(".run-pages thead button:text('Quality')");
  await page.locator(".run-pages [aria-sort=ascending]", { hasText: "Quality" }).waitFor();
  assert.match(await rows.first().innerText(), /not read/);
});

scenario("each of 2,000 pages is one bar, as high as it was slow, in forced colours too", async ({ page, site }) => {
  await openRun({ page, site }, 2000);
  await page.locator(".page-grid a").nth(1999).waitFor();
  assert.equal(await page.locator(".page-grid *").count(), 2000);
  assert.ok(await nodes(page) < 5000, String(await nodes(page)));
  const bar = (property: "backgroundSize" | "backgroundImage" | "color") =>
    page.locator(".page-grid a").nth(1).evaluate((page, property) => getComputedStyle(page)[property], property);
  // 4.9 s of at most 10.2 s.
  assert.match(await bar("backgroundSize"), /^100% 48\.\d+%/);
  const colour = await bar("color");
  await page.emulateMedia({ forcedColors: "active" });
  assert.ok((await bar("backgroundImage")).includes(colour));
});

scenario("a missing manifest is said, and one that covers every page ends the live log", async ({ page, site }) => {
  await page.clock.install();
  await open(page, `${runPath(site)}&live=1`, "run_viewer");
  await page.getByText("appears here when the run has ended").waitFor();
  await site.change({ files: { "/manifest.json": sampleRunManifest(site, 3) } });
  await page.clock.fastForward(16_000);
  await page.getByText("finished", { exact: true }).waitFor();
  await page.locator(".page-grid a").first().waitFor();
  await page.getByText("Follow the end").waitFor({ state: "hidden" });
}, { expected: [/404/] });

scenario("a link leads past the summary of the pages, and is seen while it has the focus", async ({ page, site }) => {
  await openRun({ page, site }, 60);
  await page.locator(".page-grid").waitFor();
  const link = page.getByRole("link", { name: "To the log" });
  const box = async (selector: string) => await page.locator(selector).boundingBox() ?? assert.fail(selector);
  const before = await box(".run-summary .summed");
  assert.ok((await box(".fold-summary")).width <= 1);
  await link.focus();
  const shown = await box(".fold-summary");
  assert.ok(shown.width > 60 && shown.height >= 24, JSON.stringify(shown));
  assert.deepEqual(await box(".run-summary .summed"), before);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#log");
});

scenario("a request folds into the line behind it, unfolds, and is found and linked", async ({ page, site }) => {
  await openLog({ page, site }, pagesLog(300));
  await page.getByText("Processing pages").click();
  const row = page.locator("#L41");
  await row.getByText("page 0019 read").waitFor();
  const folded = row.getByRole("button", { name: "1 request, 200" });
  assert.equal(await page.locator("#L40").count(), 0);
  await folded.scrollIntoViewIfNeeded();
  const before = await row.boundingBox() ?? assert.fail();
  await folded.click();
  await page.locator("#L40").getByText("HTTP Request").waitFor();
  assert.equal(await folded.getAttribute("aria-expanded"), "true");
  assert.deepEqual(await row.boundingBox(), before);
  await folded.click();
  await page.waitForFunction(() => !document.querySelector("#L40"));
  assert.deepEqual(await row.boundingBox(), before);

  // One stop of the Tab key for all of them.
  assert.equal(await page.locator('.stages :is(a, button):not([tabindex="-1"])').count(), 1);
  await page.locator("#L41 > a").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator("#L40").waitFor();
  await page.keyboard.press("ArrowUp");
  await page.locator("#L41 > a:focus").waitFor();
  await page.keyboard.press("ArrowUp");
  await page.locator("#L40 > a:focus").waitFor();

  const hits = page.locator(".log-tools output");
  await page.getByRole("searchbox").fill("iiif/0025");
  await hits.getByText("1 line", { exact: true }).waitFor();
  assert.equal(await page.locator("#L53 .folded").innerText(), "1 request, 200, 1 hit");
  await page.getByRole("searchbox").press("Enter");
  await page.locator("#L52.hit mark").waitFor();
  assert.equal(await page.locator("#L53 .folded").innerText(), "1 request, 200");
  await page.evaluate(() => location.hash = "#L300");
  await page.locator("#L300.marked").getByText("iiif/0149").waitFor();

  const copied = await page.evaluate(() => {
    getSelection()!.selectAllChildren(document.querySelector("#L301")!);
    return getSelection()!.toString();
  });
  assert.match(copied, /INFO \[v\] page 0149 read$/);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await page.evaluate(() => document.querySelector(".stages")!.textContent!);
  assert.equal(printed.match(/HTTP Request/g)?.length, 300);
  assert.match(printed, /\n40 .* HTTP Request.*\n41 .* page 0019 read\n42 /);
});

/** A run of so many pages: each is a request and, behind it, what came of the page. */
function pagesLog(count: number): string {
  const lines = ["INFO [v] 300 pages in manifest", "INFO [v] resume: 0 done, 300 to process", "INFO running inference"];
  for (let n = 1; n <= count; n++) {
    const page = String(n).padStart(4, "0");
    lines.push(`INFO HTTP Request: GET https://a.example/iiif/${page} "HTTP/1.1 200 OK"`, `INFO [v] page ${page} read`);
  }
  const at = (n: number) =>
    `2026-11-21 08:${String(n / 60 | 0).padStart(2, "0")}:${String(n % 60).padStart(2, "0")},000`;
  return `${lines.map((line, n) => `${at(n)} ${line}`).join("\n")}\n`;
}

/** A run of 40,000 lines: requests in fours, a warning at each 2,000th line, and one error. */
function longLog(): string {
  const at = (n: number) =>
    new Date(Date.UTC(2026, 10, 21, 8) + n * 100).toISOString().slice(0, 23).replace("T", " ").replace(".", ",");
  const lines = [
    `${at(0)} INFO [v] 9000 pages in manifest`,
    `${at(1)} INFO resume: 0 done, 9000 to process`,
    `${at(2)} INFO running inference`,
  ];
  for (let n = 3; n < 40_000; n++) {
    const text = n % 2000 === 0 ? `WARNING ${n} slow` : n % 8 < 4 ? `INFO ${n}` : `INFO HTTP Request: "HTTP/2 200"`;
    lines.push(`${at(n)} ${n === 39_001 ? "ERROR torn page" : text}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Elements and texts of a page. */
async function nodes(page: Page): Promise<number> {
  return await page.evaluate(() => {
    const walker = document.createTreeWalker(document);
    let count = 0;
    while (walker.nextNode()) count++;
    return count;
  });
}

scenario("of 40,000 lines the page has a few; all are searched, filtered and printed", async ({ page, site }) => {
  const MOST = 5000;
  await openLog({ page, site }, longLog());
  await page.locator("#L3").waitFor();
  assert.ok(await nodes(page) < MOST, String(await nodes(page)));
  const levels = await page.locator(".log-tools .count").allInnerTexts();
  assert.deepEqual(levels, ["40,000", "39,980", "19", "1"]);

  const hits = page.locator(".log-tools output");
  await page.getByRole("searchbox").fill("SLOW");
  await hits.getByText("19 lines").waitFor();
  await page.getByRole("searchbox").press("Enter");
  await page.getByRole("searchbox").press("Shift+Enter");
  await hits.getByText("19 of 19").waitFor();
  const hit = page.locator("#L38001.hit");
  assert.equal(await hit.locator("mark").innerText(), "slow");
  assert.ok(await hit.evaluate((line) => line.getBoundingClientRect().bottom < innerHeight));
  await page.locator(".line").first().waitFor();
  assert.ok(await nodes(page) < MOST, String(await nodes(page)));

  await page.getByLabel("Times since the start").check();
  await hit.filter({ hasText: /^\s*\+01:03:20\.000\s*WARNING/ }).waitFor();
  await page.getByLabel("Errors").check();
  await page.getByText("torn page").waitFor();
  assert.equal(await page.locator(".line").count(), 1);

  // The number is that of the whole file; the line lies in requests that are folded.
  await page.evaluate(() => location.hash = "#L20006");
  await page.locator("#L20006.marked").waitFor();
  assert.ok(await page.getByLabel("All 40,000").isChecked());
  await page.waitForFunction(() => {
    const { top, bottom } = document.querySelector("#L20006")!.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await page.evaluate(() => document.querySelector(".stages")!.textContent!);
  assert.match(printed, /\b9 \+00:00:00\.800 INFO 8\b/);
  assert.equal(printed.match(/HTTP Request/g)?.length, 20_000);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.locator("#L20006.marked").waitFor();
});

scenario("Tab stops at one line, arrows go through them, and Enter copies the link", async ({ page, site }) => {
  await openLog({ page, site }, longLog());
  const stops = page.locator('.stages a.number[tabindex="0"]');
  const isSeen = (number: string) =>
    page.waitForFunction((number) => {
      const stops = [...document.querySelectorAll<HTMLElement>('.stages a.number[tabindex="0"]')];
      return stops.length === 1 && stops[0].checkVisibility() && (!number || stops[0].dataset.number === number);
    }, number);
  await page.locator("#L3").waitFor();
  await isSeen("3");
  await page.locator(".stage summary").last().focus();
  await page.keyboard.press("Tab");
  await page.locator("#L3 > a:focus").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.locator("#L4 > a:focus").waitFor();
  await isSeen("4");
  await page.keyboard.press("Enter");
  await page.locator("#L4.marked").waitFor();
  await page.getByText("Link to line 4 copied").waitFor();

  // The lines that had the stop leave the page with what they are in.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.evaluate(() => location.hash = "#L20006");
  await page.locator("#L20006.marked").waitFor();
  await page.waitForFunction(() => !document.querySelector("#L4"));
  await isSeen("");
  await page.getByRole("button", { name: "Unfold all" }).click();
  await page.getByRole("button", { name: "Fold all" }).click();
  await page.waitForFunction(() => !document.querySelector("details.stage[open]"));
  await page.locator(".stage summary").first().click();
  await isSeen("1");
  assert.equal(await stops.count(), 1);
}, { permissions: ["clipboard-read", "clipboard-write"] });

scenario("a link to the beginning shows the whole log; very long lines are shortened", async ({ page, site }) => {
  const escape = "\u001b";
  const [first, ...rest] = longLog().split("\n");
  const lines = [first, `${escape}[31mred${escape}[0m\u0007`, "x".repeat(1_000_000), "y".repeat(1_000_000), ...rest];
  await openLog({ page, site }, lines.join("\r\n"));
  await page.getByText("The beginning of this log is left out.").waitFor();
  await page.evaluate(() => location.hash = "#L2");
  const line = page.locator("#L2.marked");
  await line.waitFor();
  assert.equal(await line.innerText(), "red␇");
  await page.locator("#L3").getByText("990,000 more characters, in the raw text").waitFor();
  assert.ok(!await page.isVisible("text=The beginning of this log is left out."));
  await page.evaluate(() => location.hash = "#L99999");
  await page.getByText("The line that the address names is not in this log.").waitFor();
});

scenario("the way back leads to the campaign that the reader came from, and opens its card", async ({ page, site }) => {
  await open(page, `${runPath(site)}&campaign=batch-default%2Fsvea-hovratt-1870`, "run_viewer");
  const crumbs = page.getByRole("navigation", { name: "Breadcrumb" });
  assert.deepEqual(await crumbs.getByRole("listitem").allInnerTexts(), ["Campaigns", "svea-hovratt-1870", "Run log"]);
  const pages = page.getByRole("link", { name: "View pages" });
  const viewer = await pages.getAttribute("href") ?? "";
  assert.match(viewer, /^\/uv\.html#\?manifest=.*%2Fiiif\.json&campaign=batch-default%2Fsvea-hovratt-1870$/);
  await crumbs.getByText("svea-hovratt-1870").click();
  await page.waitForURL(/\/\?q=svea-hovratt-1870&open=batch-default%2Fsvea-hovratt-1870#open-campaign$/);
  await page.locator("article", { hasText: "svea-hovratt-1870" }).locator("button.fold[aria-expanded=true]")
    .waitFor();
  assert.equal(await page.locator("button.fold[aria-expanded=true]").count(), 1);
}, { expected: [/404/] });
