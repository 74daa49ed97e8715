import assert from "node:assert/strict";

import { logPath, open, withPage } from "./site_fixture.ts";

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
