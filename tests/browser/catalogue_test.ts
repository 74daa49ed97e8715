import assert from "node:assert/strict";

import { accessibilityFindings } from "./accessibility.ts";
import { sharedBrowser } from "./shared_browser.ts";
import { startSite } from "./site_server.ts";

Deno.test("catalogue: every component in each of its states is accessible, wide, light and English, or narrow, dark and Swedish", async () => {
  await using site = await startSite("tools/catalogue.tsx");
  const browser = await sharedBrowser();
  const looks = [
    { width: 1280, colorScheme: "light", locale: "en-GB" },
    { width: 390, colorScheme: "dark", locale: "sv-SE" },
  ] as const;
  for (const { width, colorScheme, locale } of looks) {
    const page = await browser.newPage({ colorScheme, locale, viewport: { width, height: 900 } });
    await page.goto(site.url);
    const paths = await page.getByRole("navigation", { name: "Catalogue" }).getByRole("link")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    assert.ok(paths.length >= 3, paths.join(" "));
    for (const path of paths) {
      const look = `${path}, ${width} px, ${colorScheme}, ${locale}`;
      await page.goto(new URL(path, site.url).href);
      const findings = await accessibilityFindings(page);
      // On a page of its own each landmark is there once.
      assert.deepEqual(findings.filter((finding) => !finding.startsWith("landmark-unique:")), [], look);
      const spread = await page.locator(".kind-icon").evaluateAll((icons) =>
        icons.filter((icon) => icon.clientWidth > 24).length
      );
      assert.equal(spread, 0, `${look}: an icon of a kind of file fills its cell`);
      const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(tooWide <= 0, `${look}: ${tooWide} px too wide`);
    }
    await page.close();
  }
});
