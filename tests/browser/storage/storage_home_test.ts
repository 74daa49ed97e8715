import assert from "node:assert/strict";

import type { Locator, Page } from "playwright-core";

import { folderOf } from "@/lib/pages/storage/key_names.ts";
import { folderPath, storagePath } from "@/lib/pages/storage/storage_paths.ts";
import { unavailableAreaCookie } from "@/lib/auth/storage_cookie.ts";
import { onFreshPage } from "@/tests/browser/shared_browser.ts";
import { awake } from "@/tests/browser/site_fixture.ts";
import { sharedStorage } from "@/tests/end_to_end/shared/applications.ts";
import { ACCOUNT, logInToStorage } from "./storage_fixture.ts";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** Of the samples. */
const OBJECT = { bucket: "maps", key: "Malmöhus län/blad 1+2.txt" };
/** px; a thumb needs as much. */
const TARGET = 40;
/** Between the bar's content and the window on a phone, px. */
const PADDING = 8;

async function boxOf(element: Locator) {
  return await element.boundingBox() ?? assert.fail(String(element));
}

/** The distances in px from each link of the bar to the next one. */
async function gapsInBar(page: Page): Promise<number[]> {
  const boxes = await Promise.all((await page.locator(".bar nav a").all()).map(boxOf));
  return boxes.slice(1).map(({ x }, n) => x - boxes[n].x - boxes[n].width);
}

Deno.test("storage home: says when buckets were created in the zone of the reader", async () => {
  const application = await sharedStorage();
  const timeZone = "Pacific/Auckland";
  await onFreshPage({ timezoneId: timeZone }, async (page) => {
    await logInToStorage(page, application);
    await awake(page);
    const time = page.locator("td.changed time").first();
    const at = new Date(await time.getAttribute("datetime") ?? "");
    const there = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(at);
    await time.filter({ hasText: there }).waitFor();
  });
});

Deno.test("storage home: what a page says first lies above the links of the account, not below them", async () => {
  const application = await sharedStorage();
  await onFreshPage({}, async (page) => {
    await logInToStorage(page, application);
    for (const viewport of [WIDE, PHONE]) {
      await page.setViewportSize(viewport);
      const cookie = unavailableAreaCookie("http", { side: "campaigns", reason: 401, isShown: false });
      const [name, value] = cookie.split(";")[0].split("=");
      await page.context().addCookies([{ name, value, url: application.site }]);
      await page.goto(new URL(storagePath(ACCOUNT), application.site).href);
      const notice = await boxOf(page.getByRole("status").filter({ hasText: "opens the storage only" }));
      const places = await boxOf(page.locator(".storage-places"));
      assert.ok(notice.y + notice.height <= places.y, `${viewport.width} px: ${JSON.stringify({ notice, places })}`);
    }
  });
});

Deno.test("storage home: on a phone the bar keeps to its padding, and its links apart", async () => {
  const application = await sharedStorage();
  for (const locale of ["en-GB", "sv-SE"]) {
    await onFreshPage({ locale, viewport: PHONE }, async (page) => {
      await logInToStorage(page, application);
      await awake(page);
      const last = await boxOf(page.locator(".bar .log-out"));
      assert.ok(last.x + last.width <= PHONE.width - PADDING, `${locale}: ends at ${last.x + last.width} px`);
      for (const gap of await gapsInBar(page)) assert.ok(gap >= PADDING, `${locale}: ${gap} px apart`);
    });
  }
});

Deno.test("storage home: on a phone the controls of an object beside its folder are large enough for a thumb", async () => {
  const application = await sharedStorage();
  await onFreshPage({ viewport: PHONE }, async (page) => {
    const { bucket, key } = OBJECT;
    const path = folderPath({ account: ACCOUNT, bucket, prefix: folderOf(key), open: key });
    await logInToStorage(page, application, path);
    await awake(page);
    await page.locator(".side .facts").waitFor();
    const small = await page.locator(".side :is(a, button)").evaluateAll(
      (controls, least) =>
        controls.filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < least)
          .map(({ outerHTML }) => outerHTML.slice(0, 120)),
      TARGET,
    );
    assert.deepEqual(small, []);
  });
});
