import assert from "node:assert/strict";

import { accessibilityFindings } from "./accessibility.ts";
import { sharedBrowser } from "./shared_browser.ts";
import { startSite } from "./site_server.ts";

Deno.test("catalogue: every component in each of its states is accessible, wide and narrow, light and dark", async () => {
  const site = await startSite("tools/catalogue.tsx");
  const browser = await sharedBrowser();
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
        await page.goto(site.url);
        assert.deepEqual(await accessibilityFindings(page), [], `${width} px, ${colorScheme}`);
        const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(tooWide <= 0, `${width} px: ${tooWide} px too wide`);
        await page.close();
      }
    }
  } finally {
    await site.stop();
  }
});
