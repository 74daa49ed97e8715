import assert from "node:assert/strict";

import type { Page } from "playwright-core";

import { downloadPath, folderPath, objectPath, shownPath } from "@/lib/pages/storage/storage_paths.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { accessibilityFindings, colourFindings } from "@/tests/browser/accessibility.ts";
import { awake } from "@/tests/browser/site_fixture.ts";
import { ACCOUNT, withStorage } from "./storage_fixture.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAEUlEQVR42mP8z8BQz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC";

/** Bytes of scripts that a page has loaded, as sent. */
async function scriptBytes(page: Page): Promise<number> {
  return await page.evaluate(() =>
    performance.getEntriesByType("resource")
      .filter(({ name }) => name.endsWith(".js"))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0)
  );
}

/** What a missing version and a refused tag leave on the console. */
const EXPECTED = [/40[04] \((?:Bad Request|Not Found)\)|422/];
const OPTIONS = { permissions: ["clipboard-read", "clipboard-write"], expected: EXPECTED };

Deno.test(
  "storage, inside an object",
  withStorage(async (visit, t) => {
    const { page, bucket, gateway, application: { site } } = visit;
    const writer = new StorageBrowser(site);
    await writer.logIn(ACCOUNT, "stackroom-demo", "/storage");
    const at = (key: string) => ({ account: ACCOUNT, bucket, key });
    const put = async (key: string, body: BodyInit, type: string) => {
      const init = { method: "PUT", body, headers: { "Content-Type": type } };
      const response = await writer.fetch(downloadPath(at(key)), init);
      assert.equal(response.status, 200, await response.text());
    };
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => dialogs.push(dialog.message()));
    const open = (key: string) => visit.open(objectPath(at(key)));

    await t.step("a picture is shown, an SVG with a script as a picture alone", async () => {
      await put("scan.png", Uint8Array.fromBase64(PNG), "image/png");
      await open("scan.png");
      const width = () => page.locator(".picture img").evaluate((image) => (image as HTMLImageElement).naturalWidth);
      assert.equal(await width(), 2);
      await page.getByText("2 × 1 pixels").waitFor();
      const svg =
        `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7" onload="alert(1)"><script>alert(2)</script>` +
        `<rect width="7" height="7"/></svg>`;
      await put("evil.svg", svg, "image/svg+xml");
      await open("evil.svg");
      assert.equal(await width(), 7);
    });

    await t.step("an object of two types is saved, and its script does not run", async () => {
      await put("two.pdf", "<title>ran</title><script>alert(3)</script>", "application/pdf; a=b, text/html");
      const saved = page.waitForEvent("download");
      const opened = page.goto(new URL(shownPath(at("two.pdf")), site).href).catch(String);
      assert.equal((await saved).suggestedFilename(), "two.pdf");
      assert.match(await opened as string, /Download is starting/);
      assert.notEqual(await page.title(), "ran");
    });

    await t.step("the text of an ALTO file is read in our viewer, and its file without scripts", async () => {
      const alto =
        `<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page WIDTH="9" HEIGHT="9"><PrintSpace>` +
        `<TextBlock><TextLine HPOS="1" VPOS="1" WIDTH="5" HEIGHT="1"><String CONTENT="Häradsrätt" WC="0.9"/></TextLine>` +
        `</TextBlock></PrintSpace></Page></Layout></alto>`;
      await put("page.xml", alto, "application/xml");
      await open("page.xml");
      await page.locator(".page-text").getByText("Häradsrätt").waitFor();
      await page.getByText("The text of the object").click();
      await page.getByRole("region", { name: "The text of the object" }).getByText("<alto xmlns").waitFor();
    });

    await t.step("the panel beside a folder shows a picture and leads to the page of the object", async () => {
      await page.goto(
        new URL(folderPath({ account: ACCOUNT, bucket, prefix: "", open: "scan.png" }), site).href,
      );
      const panel = page.getByRole("complementary", { name: "scan.png" });
      await panel.getByRole("img", { name: "scan.png" }).waitFor();
      await panel.getByRole("link", { name: "Content, link, versions" }).click();
      await page.getByRole("heading", { level: 1, name: "scan.png" }).waitFor();
    });

    await t.step("a link is created, says what its receiver gets, and works without a login", async () => {
      await put("it's; a plan.txt", "hello", "text/plain");
      await open("it's; a plan.txt");
      await page.getByRole("button", { name: "Create a link" }).click();
      const url = await page.getByRole("textbox", { name: "Link" }).inputValue();
      assert.equal(await (await fetch(url)).text(), "hello");
      await page.getByText(/The receiver gets “it's; a plan\.txt” \(TXT, 5\sB\) until \d+ \w+/).waitFor();
      await page.getByText(/works on this machine only/).waitFor();
      await page.getByRole("img", { name: "The link as a QR code" }).waitFor();
      await page.getByRole("button", { name: "Copy the link" }).click();
      await page.getByText("Copied.").waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), url);
      await page.getByRole("button", { name: "Copy as curl command" }).click();
      await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("curl "));
      const folder = await Deno.makeTempDir();
      const curl = await page.evaluate(() => navigator.clipboard.readText());
      const { success } = await new Deno.Command("bash", { args: ["-c", `${curl} --silent`], cwd: folder }).output();
      assert.ok(success, curl);
      assert.equal(await Deno.readTextFile(`${folder}/it's; a plan.txt`), "hello");
      await Deno.remove(folder, { recursive: true });
    });

    await t.step("a link is valid for any time up to seven days", async () => {
      await page.getByLabel("The link is valid for").selectOption({ label: "another time" });
      await page.getByLabel("Number").fill("8");
      await page.getByRole("button", { name: "Create a link" }).click();
      await page.getByText("A link is valid for at least one minute and at most 7 days.").waitFor();
      await page.getByLabel("Unit").selectOption({ label: "hours" });
      await page.getByRole("button", { name: "Create a link" }).click();
      assert.match(await page.getByRole("textbox", { name: "Link" }).inputValue(), /X-Amz-Expires=28800&/);
    });

    await t.step("an older version is restored, also behind a delete marker", async () => {
      await put("v.txt", "first text", "text/plain");
      await put("v.txt", "second text", "text/plain");
      await (await writer.fetch(downloadPath(at("v.txt")), { method: "DELETE" })).body?.cancel();
      await open("v.txt");
      await page.getByText(/its bucket keeps versions/).waitFor();
      await page.getByRole("button", { name: /^Restore the version of/ }).last().click();
      await page.getByRole("region", { name: "The text of the object" }).getByText("first text").waitFor();
      assert.equal(await page.getByText("Older version").count(), 2);
    });

    await t.step("two versions of a text are compared line by line", async () => {
      const lines = Array.from({ length: 100 }, (_, line) => `line ${line}`);
      await put("c.txt", lines.join("\n"), "text/plain");
      await put("c.txt", lines.with(50, "<img src=x onerror=alert(1)>").join("\n"), "text/plain");
      await open("c.txt");
      await page.getByRole("button", { name: /^Compare the version of/ }).click();
      const dialog = page.getByRole("dialog", { name: /^From the version of .+ to the current one$/ });
      await dialog.getByText("1 line added, 1 line removed.").waitFor();
      await dialog.getByRole("row", { name: "51 − line 50" }).waitFor();
      await dialog.getByRole("row", { name: "51 + <img src=x onerror=alert(1)>" }).waitFor();
      await dialog.getByText("47 equal lines").waitFor();
      assert.deepEqual(await accessibilityFindings(page), []);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
    });

    await t.step("an object is renamed and deleted on its own page, which leads to where it went", async () => {
      await put("moves/first.txt", "x", "text/plain");
      await open("moves/first.txt");
      await page.getByRole("button", { name: "Rename" }).click();
      await page.getByRole("dialog").getByLabel("New name").fill("second.txt");
      await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
      await page.waitForURL(new URL(objectPath(at("moves/second.txt")), site).href);
      await awake(page);
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete 1 object" }).click();
      await page.waitForURL(/\/storage\/folder\?.*prefix=moves%2F/);
    });

    await t.step("tags are added, refused where the store does not take them, and removed", async () => {
      await put("tagged.txt", "x", "text/plain");
      await open("tagged.txt");
      await page.getByText("The object has no tags.").waitFor();
      await page.getByRole("button", { name: "Edit the tags" }).click();
      await page.getByLabel("Name of tag 1").fill("state");
      await page.getByLabel("Value of tag 1").fill("<b>");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/A name has 1 to 128 characters/).waitFor();
      await page.getByLabel("Value of tag 1").fill("checked by Åsa");
      await page.getByRole("button", { name: "Add a tag" }).click();
      await page.getByLabel("Name of tag 2").fill("state");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Two tags have the same name.").waitFor();
      await page.getByRole("button", { name: "Remove tag 2" }).click();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      assert.deepEqual((await gateway.json("GET", `/buckets/${bucket}/tags/tagged.txt`)).tags, {
        state: "checked by Åsa",
      });
      await open("tagged.txt");
      await page.getByText("checked by Åsa").waitFor();
      await page.getByRole("button", { name: "Edit the tags" }).click();
      await page.getByRole("button", { name: "Remove tag 1" }).click();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The object has no tags.").waitFor();
      assert.deepEqual((await gateway.json("GET", `/buckets/${bucket}/tags/tagged.txt`)).tags, {});
    });

    await t.step("axe finds nothing, in either theme and on a phone, in either language", async () => {
      await open("it's; a plan.txt");
      await page.getByRole("button", { name: "Create a link" }).click();
      await page.getByRole("img", { name: "The link as a QR code" }).waitFor();
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: "light" });
        assert.deepEqual(await accessibilityFindings(page), []);
        await page.emulateMedia({ colorScheme: "dark" });
        assert.deepEqual(await colourFindings(page), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} of ${width} px`);
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    await t.step("the scripts of the page are small, and nothing went wrong", async () => {
      await open("v.txt");
      const bytes = await scriptBytes(page);
      assert.ok(bytes > 0 && bytes <= 60_000, `${bytes} bytes`);
      console.log(`scripts of an object's page: ${bytes} bytes`);
      assert.deepEqual(dialogs, []);
    });
  }, OPTIONS),
);
