import assert from "node:assert/strict";

import type { BrowserContextOptions, Page } from "playwright-core";

import { type Application, startApplication } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import { accessibilityFindings, colourFindings } from "./accessibility.ts";
import { onFreshPage } from "./shared_browser.ts";
import { follow } from "./site_fixture.ts";

/** The application with everything embedded, and campaigns that move. */
const sharedApplication = sharedByFile(
  () => startApplication({ env: { SIMULATOR_SPEED: "30" } }),
  (application) => application.stop(),
);

/** Runs a test on a page of the application in a browser profile of its own; see {@linkcode onFreshPage}. */
function onPage(
  options: BrowserContextOptions,
  test: (page: Page, application: Application) => Promise<void>,
  expected: readonly RegExp[] = [],
) {
  return async () => {
    const application = await sharedApplication();
    await onFreshPage(options, (page) => test(page, application), expected);
  };
}

async function logIn(page: Page, username: string, password: string): Promise<void> {
  await page.fill("[name=username]:visible", username);
  await page.fill("[name=password]:visible", password);
  await follow(page, page.getByRole("button", { name: "Log in" }));
}

// The browser itself writes a line for each 401.
Deno.test(
  "site: a reader logs in, watches campaigns move, opens one and its run log, and logs out",
  onPage({}, async (page, application) => {
    // Without a session the page shows no data, and what it reads then leads to the login.
    await page.goto(application.site);
    await page.waitForURL(/\/login/);
    await page.getByLabel("User name").fill("archive/reader");
    await page.getByLabel("Password").fill("stackroom-demo");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL(application.site);
    await page.locator("[data-island=campaign_board][data-hydrated]").waitFor();
    await page.getByRole("article").nth(5).waitFor();

    const card = page.getByRole("article").filter({ hasText: "svea-hovratt-1870" });
    await card.getByRole("button", { name: "svea-hovratt-1870", exact: true }).click();
    const rows = card.locator("tbody tr");
    await rows.filter({ hasText: "done" }).first().waitFor();
    await card.getByRole("button", { name: "Show the other" }).click();
    await card.getByText("SE-SVEAH-1870-A1-0440").waitFor({ state: "attached" });

    // At the first start the files of what is done already are written while the site runs. The campaigns move, so that
    // an address is read once: the same link may lead to another volume a moment later.
    const read = (file: string) =>
      until(file, async () => {
        const response = await page.request.get(file);
        return response.status() === 404 ? null : response;
      });
    const log = rows.filter({ hasText: "done" }).first().getByRole("link", { name: /log/ });
    const logAddress = new URL(await log.getAttribute("href") ?? "", application.site);
    await read(logAddress.searchParams.get("log") ?? "");
    await page.goto(logAddress.href);
    await page.locator("[data-island=run_viewer][data-hydrated]").waitFor();
    // Stages that went well are folded, so the line is there without being seen.
    await page.getByText("pages in manifest").first().waitFor({ state: "attached" });

    // The page of lowest quality opens in the viewer: the archive's image beside the text of the results.
    await page.goto(application.site);
    const lowest = await card.locator("a[href*='uv.html'][href*='&cv=']").first().evaluate(
      (link: HTMLAnchorElement) => ({ href: link.href, title: link.title }),
    );
    const lowestPage = /page (\S+) of/.exec(lowest.title)?.[1];
    assert.ok(lowestPage);
    const viewed = new URLSearchParams(lowest.href.split("#?")[1]);
    const manifest = await (await read(viewed.get("manifest") ?? "")).json();
    await read(manifest.items[Number(viewed.get("cv"))].seeAlso[0].id);
    await page.goto(lowest.href);
    await page.getByRole("heading", { name: `Page ${lowestPage}` }).waitFor();
    await page.locator(".text-lines li").first().waitFor();
    await page.locator(".page-marks svg").waitFor({ state: "attached" });

    await page.goto(application.site);
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL(`${application.site}login`);
    await page.goto(application.site);
    await page.waitForURL(/\/login/);
    assert.equal(await page.getByRole("article").count(), 0);
  }, [/401/]),
);

for (const javaScriptEnabled of [true, false]) {
  Deno.test(
    `login: ${
      javaScriptEnabled ? "with" : "without"
    } scripts a wrong password keeps the name, a lock says when it ends, and a logout is confirmed`,
    onPage({ javaScriptEnabled }, async (page, { site, output }) => {
      const next = "log?log=a&live=1#L3";
      await page.goto(`${site}login?next=${encodeURIComponent(`/${next}`)}`);
      const username = `archive/nobody-${javaScriptEnabled}`;
      await logIn(page, username, "wrong");
      await page.getByText("The name or the password is wrong.").waitFor();
      assert.equal(await page.inputValue("[name=username]:visible"), username);
      await page.locator("[name=password]:focus").waitFor();
      assert.ok(!page.url().includes(username) && !output().includes(username));
      for (let n = 0; n < 10; n++) await logIn(page, username, `wrong ${n}`);
      const lock = page.getByText(javaScriptEnabled ? /Try again at \d\d:\d\d:\d\d\./ : /Try again in \d seconds?\./);
      await lock.waitFor();
      if (javaScriptEnabled) await page.getByText("You can try again now.").waitFor();

      await logIn(page, "archive/reader", "stackroom-demo");
      await page.waitForURL(site + next);
      await follow(page, page.getByRole("button", { name: "Log out" }));
      await page.getByText("You are logged out.").waitFor();
    }, [/400/]),
  );
}

Deno.test(
  "login: one click looks around",
  onPage({ javaScriptEnabled: false }, async (page, { site }) => {
    await page.goto(`${site}login?next=${encodeURIComponent("/?a=b")}`);
    await page.getByRole("button", { name: "Look around as reader" }).click();
    await page.waitForURL(`${site}?a=b`);
    await page.goto(`${site}login`);
    await page.getByText("You are logged in as reader.").waitFor();
  }),
);

Deno.test(
  "API page: it is accessible, Authorize logs in, and an operation is tried out with the token",
  onPage({ reducedMotion: "reduce" }, async (page, application) => {
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(application.site) && !request.url().startsWith("data:")) {
        foreign.push(request.url());
      }
    });

    await page.goto(`${application.site}docs`);
    await page.locator(".opblock-summary-control").first().click();
    await page.getByRole("button", { name: "Try it out" }).click();
    await page.getByRole("button", { name: "Authorize" }).first().click();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await accessibilityFindings(page), [], "dark");
    await page.emulateMedia({ colorScheme: "light" });
    assert.deepEqual(await colourFindings(page), [], "light");
    const dialog = page.locator(".dialog-ux");
    await dialog.locator("#oauth_username").fill("archive/curator");
    await dialog.locator("#oauth_password").fill("stackroom-demo");
    await dialog.getByRole("button", { name: "Apply given OAuth2 credentials" }).click();
    await dialog.getByRole("button", { name: "Remove authorization" }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    // The page makes its sections as they come into sight.
    await page.waitForFunction(() => {
      scrollBy(0, innerHeight / 2);
      return document.querySelector('.opblock-summary-path[data-path="/api/v1/buckets"]') !== null;
    });
    const operation = page.locator(".opblock-get").filter({
      has: page.locator('.opblock-summary-path[data-path="/api/v1/buckets"]'),
    });
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table .response");
    await answer.waitFor();
    assert.equal((await answer.locator(".response-col_status").textContent())?.trim().slice(0, 3), "200");
    assert.match(await answer.locator(".highlight-code").textContent() ?? "", /campaigns/);

    assert.deepEqual(foreign, []);
    assert.deepEqual(problems, []);
    for (const width of [2560, 1280, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `at ${width} px the page is ${overflow} px wider than its window`);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.emulateMedia({ forcedColors: "active" });
    assert.deepEqual(await colourFindings(page), [], "forced colours");
    await page.emulateMedia({ forcedColors: "none", media: "print", colorScheme: "dark" });
    assert.equal(await page.locator("header.bar").isVisible(), false);
    assert.equal(await page.getByRole("button", { name: "Authorize" }).filter({ visible: true }).count(), 0);
    assert.deepEqual(
      await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, document.getAnimations().length]),
      ["rgb(255, 255, 255)", 0],
    );
    const shots = Deno.env.get("SCREENSHOTS");
    if (shots) await page.screenshot({ path: `${shots}/docs.png` });
  }),
);
