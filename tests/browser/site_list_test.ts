import assert from "node:assert/strict";

import { follow, logIn, open, type Visit, withPage } from "./site_fixture.ts";

Deno.test(
  "list: log in, campaigns, log out",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await open(visit);
    assert.equal(await page.title(), "2 in trouble · Campaigns · Stackroom");
    assert.equal(await page.locator("article h2 button").first().textContent(), "svea-hovratt-1870");
    assert.match(
      await page.locator("link[rel=icon]").getAttribute("href") ?? "",
      /^data:image\/svg\+xml,.*2%3C%2Ftext/,
    );
    // The server writes UTC, the island the reader's own zone.
    assert.match(
      await page.getByText(/^running for/).first().getAttribute("title") ?? "",
      /^Started 20 November 2026, 08:13:00 Europe\/Stockholm/,
    );
    await page.click("text=Log out");
    await page.waitForURL(`${site.url}login`);
    await page.goto(site.url);
    await page.waitForURL(/\/login$/);
  }, [/401/]),
);

Deno.test(
  "list: scripts off, every campaign is there with its volumes, nothing waits for a click",
  withPage({ javaScriptEnabled: false }, async ({ page, site }) => {
    await page.goto(site.url);
    assert.ok(await page.isVisible("text=to see the campaigns"));
    await page.goto(`${site.url}login`);
    await logIn(page);
    assert.equal(await page.locator("article").count(), 7);
    assert.ok(await page.isVisible("text=420 of 1,200 volumes started"));
    assert.ok(await page.isVisible("article >> nth=3 >> text=swedish-lion-v2"));
    assert.ok(!await page.isVisible("text=Sort again"));
    await page.fill("[type=search]", "rådhus");
    await follow(page, page.getByRole("button", { name: "Apply" }));
    assert.equal(await page.locator("article").count(), 1);
    await follow(page, page.getByRole("button", { name: "Log out" }));
    assert.match(page.url(), /\/login$/);
  }),
);

/** Serves so many campaigns without a Job beside the samples. */
async function serveOlder({ page, site }: Visit, count: number): Promise<void> {
  const { jobs } = await (await page.request.get(`${site.url}_test`)).json();
  const gone = Array.from({ length: count }, (_, i) => ({ ...jobs[4], name: `borta-${String(i).padStart(2, "0")}` }));
  await site.change({
    jobs: [...jobs.filter(({ jobGone }: { jobGone: boolean }) => !jobGone), ...gone],
    reapedTotal: count,
  });
}

Deno.test(
  "list: older campaigns come twenty at a time, by an address that scripts need not run for and a reload keeps",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await serveOlder(visit, 45);
    await open(visit);
    await page.getByText("Show 20 older campaigns of 25").click();
    await page.waitForURL(`${site.url}?reaped=40`);
    await page.getByText("Show 5 older campaigns of 5").waitFor();
    await page.reload();
    assert.ok(await page.getByText("46 shown of 51").isVisible());
    const scriptless = await visit.page.context().browser()?.newContext({ javaScriptEnabled: false });
    assert.ok(scriptless);
    await scriptless.addCookies(await page.context().cookies());
    const plain = await scriptless.newPage();
    await plain.goto(`${site.url}?state=finished`);
    assert.equal(await plain.locator("article").count(), 21);
    await follow(plain, plain.getByText("Show 20 older campaigns of 25"));
    assert.equal(plain.url(), `${site.url}?state=finished&reaped=40`);
    assert.equal(await plain.locator("article").count(), 41);
    await plain.fill("[type=search]", "borta-3");
    await follow(plain, plain.getByRole("button", { name: "Apply" }));
    assert.equal(await plain.locator("article").count(), 10);
    await plain.goto(`${site.url}?reaped=40`);
    await follow(plain, plain.getByText("Show 5 older campaigns of 5"));
    assert.equal(await plain.getByText("older campaigns").count(), 0);
    await scriptless.close();
  }),
);

Deno.test(
  "list: only cards on screen are read, queued ones not at all",
  withPage({ viewport: { width: 1280, height: 300 } }, async (visit) => {
    const { page, site } = visit;
    const jobs = await page.request.get(`${site.url}_test`).then(async (answer) => (await answer.json()).jobs);
    const many = Array.from({ length: 40 }, (_, i) => ({ ...jobs[0], name: `kampanj-${String(i).padStart(2, "0")}` }));
    await site.change({ jobs: [jobs[5], ...many] });
    await open(visit);
    await page.getByText("kampanj-00", { exact: true }).waitFor();
    await page.waitForFunction(() => document.querySelector("article .figure")?.textContent?.includes("≥"));
    assert.ok(!(await site.reads()).some((name) => name.endsWith("kampanj-39")));
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByText("kampanj-39", { exact: true }).scrollIntoViewIfNeeded();
    await page.waitForFunction(() =>
      [...document.querySelectorAll("article")].find((card) => card.textContent?.includes("kampanj-39"))
        ?.querySelector(".figure")?.textContent?.includes("≥")
    );
    assert.ok(!(await site.reads()).some((name) => name.endsWith(jobs[5].name)));
  }),
);

Deno.test(
  "list: a poll brings a new campaign to its place and leaves the one with the focus where it is",
  withPage({ viewport: { width: 1280, height: 500 } }, async (visit) => {
    const { page, site } = visit;
    await page.clock.install();
    await open(visit);
    const held = page.locator("article", { hasText: "bergskollegium-1720" });
    await held.locator(".fold").focus();
    await page.waitForFunction(() => document.querySelector("article .figure")?.textContent?.includes("≥"));
    const before = await held.boundingBox();
    const { jobs } = await page.request.get(`${site.url}_test`).then((answer) => answer.json());
    await site.change({ jobs: [{ ...jobs[0], name: "ny-kampanj" }, ...jobs] });
    await page.clock.fastForward(61_000);
    await page.getByText("ny-kampanj", { exact: true }).waitFor();
    assert.deepEqual((await held.boundingBox())?.y, before?.y);
    assert.equal(
      await page.evaluate(() => document.activeElement?.textContent),
      "bergskollegium-1720",
    );
  }),
);

Deno.test(
  "list: a page in a hidden tab reads nothing until the tab is shown",
  withPage({}, async (visit) => {
    const { page, site } = visit;
    await page.addInitScript(() => {
      let hidden = true;
      Object.defineProperty(document, "hidden", { get: () => hidden });
      addEventListener("look", () => {
        hidden = false;
        document.dispatchEvent(new Event("visibilitychange"));
      });
    });
    const asked: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/api/v1/")) asked.push(pathname);
    });
    await page.clock.install();
    await open(visit);
    await page.clock.fastForward(200_000);
    assert.deepEqual(asked, []);
    assert.deepEqual(await site.reads(), []);
    const list = page.waitForRequest(/\/api\/v1\/jobs\?/);
    await page.evaluate(() => dispatchEvent(new Event("look")));
    await list;
  }),
);

Deno.test(
  "theme: chosen by hand, kept over a reload before anything is painted",
  withPage({ colorScheme: "light" }, async (visit) => {
    const { page } = visit;
    await open(visit);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByLabel("Theme: system").click();
    await page.getByLabel("Theme: light").click();
    assert.notEqual(await ground(), light);
    await page.reload({ waitUntil: "commit" });
    await page.waitForSelector("body");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  }),
);
