import assert from "node:assert/strict";

import { logPath, open, runPath, sampleRunManifest, withPage } from "./site_fixture.ts";

Deno.test(
  "log: stages, folded where they went well, and followed until the run ends",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await page.clock.install();
    await open(visit, logPath(site), "run_viewer");
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
    assert.ok(!await page.isVisible("text=Follow the end"));
  }),
);

Deno.test(
  "log: without a session the island leads to the login and back",
  withPage({}, async ({ page, site }) => {
    await page.goto(site.url + logPath(site));
    await page.waitForURL(/\/login\?next=/);
    assert.equal(new URL(page.url()).searchParams.get("next"), `/${logPath(site)}`);
  }, [/401/]),
);

Deno.test(
  "log: an address outside the results is refused in words",
  withPage({}, async ({ page, site }) => {
    await page.goto(`${site.url}log?log=https%3A%2F%2Fevil.example%2Fa.txt`);
    assert.match(await page.textContent("[role=alert]") ?? "", /is not one of this site's results/);
  }, [/400/]),
);

Deno.test(
  "log: an address of a line opens all that it lies in, goes there once, and marks it",
  withPage({ viewport: { width: 1000, height: 400 } }, async (visit) => {
    const { page, site } = visit;
    await page.clock.install();
    await open(visit, logPath(site), "run_viewer");
    await page.goto("about:blank");
    await page.goto(`${site.url}${logPath(site)}#L9`);
    const line = page.locator("#L9.marked");
    await line.waitFor();
    assert.ok(
      await page.evaluate(() => {
        const { top, bottom } = document.querySelector("#L9")!.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      }),
    );
    await page.evaluate(() => scrollTo(0, 0));
    const { log } = await (await fetch(`${site.url}_test`)).json();
    await site.change({ log: `${log}2026-11-21 08:20:00,250 INFO page 0010 done\n` });
    await page.clock.fastForward(16_000);
    await page.getByText("page 0010 done").waitFor({ state: "attached" });
    assert.equal(await page.evaluate(() => scrollY), 0);
    await page.locator("#L2 > a").dispatchEvent("click");
    await page.locator("#L2.marked").waitFor();
    assert.equal(await page.locator(".marked").count(), 1);
  }),
);

Deno.test(
  "log: a link from another site ends on the page as the logged-in reader sees it",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await open(visit, logPath(site), "run_viewer");
    for (const _ of [1, 2]) {
      // The link of a mail: the first page carries no cookie.
      await page.route(
        "https://mail.example/",
        (route) =>
          route.fulfill({ contentType: "text/html", body: `<a href="${site.url}${logPath(site)}#L3">log</a>` }),
      );
      await page.goto("https://mail.example/");
      await page.click("a");
      await page.waitForSelector(".bar .user");
      await page.locator("#L3.marked").waitFor();
    }
  }),
);

Deno.test(
  "log: the run's manifest is summed up beside the log, with links to each page and its text",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await site.change({ files: { "/manifest.json": sampleRunManifest(site, 120) } });
    await open(visit, runPath(site), "run_viewer");
    const figures = page.locator(".figures");
    await figures.getByText("15 min 12 s").waitFor();
    assert.match(await figures.innerText(), /115\s*of 120/);
    assert.equal(await page.locator(".page-grid a").count(), 120);
    assert.equal(await page.locator(".slowest li").count(), 5);
    assert.match(await page.locator(".lost-pages li").first().innerText(), /^0008 ValueError: sidan är tom <img/);

    await page.click("text=Pages as a table");
    const rows = page.locator(".run-pages tbody tr:has(th)");
    assert.equal(await rows.count(), 50);
    await page.click("text=Show the other 70");
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
    assert.equal(await page.locator(".run-pages [aria-sort=ascending]").innerText(), "Quality");
    assert.match(await rows.first().innerText(), /lost/);
  }),
);

Deno.test(
  "log: a run without a manifest says so, and one that covers every page ends the live log",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await page.clock.install();
    await open(visit, `${runPath(site)}&live=1`, "run_viewer");
    await page.getByText("appears here when the run has ended").waitFor();
    await site.change({ files: { "/manifest.json": sampleRunManifest(site, 3) } });
    await page.clock.fastForward(16_000);
    await page.getByText("finished", { exact: true }).waitFor();
    await page.locator(".page-grid a").first().waitFor();
    assert.ok(!await page.isVisible("text=Follow the end"));
  }, [/404/]),
);

Deno.test(
  "log: a link leads past the summary of the pages, and is seen while it has the focus",
  withPage({ viewport: { width: 1280, height: 800 } }, async (visit) => {
    const { page, site } = visit;
    await site.change({ files: { "/manifest.json": sampleRunManifest(site, 60) } });
    await open(visit, runPath(site), "run_viewer");
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
  }),
);
