import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import { fixityPath, fixityReportPath, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { endOfTask, type GatewayClient, logIn as logInToGateway } from "@/tests/end_to_end/gateway_client.ts";
import { sharedBrowser } from "@/tests/browser/shared_browser.ts";
import { idleControls } from "@/tests/browser/page_states.ts";
import { awake, countShifts, follow } from "@/tests/browser/site_fixture.ts";
import { findingsOf, loggedIn } from "./storage_records.ts";

const ACCOUNT = "archive/curator";
const BUCKET = "fixity-pages";
const CHECKS = `/buckets/${BUCKET}/fixity`;
/** Objects by key, each of a size of its own, by which its body is found in the data folder. */
const HOSTILE = [
  "odd/<script>alert(1)</script>.tif",
  "odd/\u202Egnp.exe",
  "odd/line\nbreak.txt",
  `odd/${"long-name-".repeat(100)}`,
];
const KEYS = ["sound/a.tif", "sound/b.tif", ...HOSTILE];
const FIRST_SIZE = 100_001;
/** The slowest check that the gateway takes, bytes per second. */
const SLOWEST = 65_536;

const SCHEDULES = `
logins:
  keeper: { username: ${ACCOUNT}, password: stackroom-demo }
schedules:
  - { name: yearly, login: keeper, bucket: ${BUCKET}, cron: "30 2 1 1 *" }
`;

const at = { account: ACCOUNT, bucket: BUCKET };

async function fill({ site, dataFolder }: Application): Promise<GatewayClient> {
  const gateway = await logInToGateway(site, ACCOUNT);
  await gateway.json("POST", "/buckets", { bucket: BUCKET });
  for (const [n, key] of KEYS.entries()) {
    const response = await fetch(`${gateway.base}/buckets/${BUCKET}/objects/${encodeURIComponent(key)}`, {
      method: "PUT",
      headers: { authorization: gateway.authorization },
      body: new Uint8Array(FIRST_SIZE + n).fill(n),
    });
    assert.equal(response.status, 200, await response.text());
  }
  const first = FIRST_SIZE + KEYS.indexOf(HOSTILE[0]);
  for await (const hour of Deno.readDir(`${dataFolder}/bodies`)) {
    if (!hour.isDirectory) continue;
    for await (const { name } of Deno.readDir(`${dataFolder}/bodies/${hour.name}`)) {
      const path = `${dataFolder}/bodies/${hour.name}/${name}`;
      const bytes = await Deno.readFile(path);
      if (bytes.length < first || bytes.length >= first + HOSTILE.length) continue;
      bytes[77] ^= 1;
      await Deno.writeFile(path, bytes);
    }
  }
  return gateway;
}

Deno.test("fixity pages", async (t) => {
  await using application = await startApplication({ env: { ...STORAGE_ONLY, FIXITY_SCHEDULES: SCHEDULES } });
  const browser = await sharedBrowser();
  const site = application.site.slice(0, -1);
  const visit = { browser, site, account: ACCOUNT };
  const gateway = await fill(application);
  const started = async (body: unknown) => String((await gateway.json("POST", CHECKS, body)).task_id);

  await t.step("without scripts a check is started from its folder, and its damaged objects are read", async () => {
    const page = await loggedIn(visit, "/fixity", { javaScriptEnabled: false });
    await page.goto(site + folderPath({ ...at, prefix: "odd/" }));
    await follow(page, page.getByRole("link", { name: "Check fixity" }));
    assert.equal(await page.getByLabel("Only keys that begin with").inputValue(), "odd/");
    assert.equal(await page.locator("[name=bucket]").inputValue(), BUCKET);
    assert.deepEqual(await idleControls(page), []);
    await follow(page, page.getByRole("button", { name: "Start the check" }));
    const task = new URL(page.url()).searchParams.get("task") ?? "";
    await endOfTask(gateway, `${CHECKS}/${task}`);
    await page.reload();
    await page.getByText("4 of 4 objects are damaged. Restore them from an older version").waitFor();
    assert.equal(await page.getByRole("row").count(), 1 + HOSTILE.length);
    assert.deepEqual(await idleControls(page), []);
    await page.getByText("⟨U+202E⟩").waitFor();
    await follow(page, page.getByRole("link", { name: "<script>alert(1)</script>.tif" }));
    await page.getByRole("heading", { name: ".tif" }).waitFor();
    const csv = await page.request.get(site + fixityReportPath({ ...at, task }, "csv"));
    assert.match(await csv.text(), /^key,.*\r\n(?:.*changed,checksum.*\r\n?)/);
    await page.context().close();
  });

  await t.step("without scripts a bag is compared by the form, and what does not fit is said", async () => {
    const sum = createHash("sha256").update("a").digest("hex");
    const bag = {
      "data/a.txt": "a",
      "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
      "manifest-sha256.txt": `${sum}  data/a.txt\n`,
    };
    for (const [name, body] of Object.entries(bag)) {
      const address = `${gateway.base}/buckets/${BUCKET}/objects/bag/${name}`;
      const headers = { authorization: gateway.authorization };
      const response = await fetch(address, { method: "PUT", headers, body });
      assert.equal(response.status, 200, await response.text());
    }
    const page = await loggedIn(visit, "/fixity", { javaScriptEnabled: false });
    await page.goto(site + fixityPath({ ...at, prefix: "bag" }));
    await page.getByText("More choices").click();
    const box = page.getByLabel("A bag (BagIt): all its manifests");
    await box.check();
    await follow(page, page.getByRole("button", { name: "Start the check" }));
    await page.getByRole("alert").getByText("Invalid value for “Only keys that begin with”").waitFor();
    assert.equal(await box.isChecked(), true);
    await page.getByLabel("Only keys that begin with").fill("bag/");
    await follow(page, page.getByRole("button", { name: "Start the check" }));
    const task = new URL(page.url()).searchParams.get("task") ?? "";
    await endOfTask(gateway, `${CHECKS}/${task}`);
    await page.reload();
    await page.getByText("The bag is valid.").waitFor();
    await page.context().close();
  });

  await t.step("with scripts progress moves until the report is there, and nothing on the page jumps", async () => {
    const page = await loggedIn(visit, "/fixity");
    await countShifts(page);
    const task = await started({ prefix: "sound/", rate: SLOWEST });
    await page.goto(site + fixityPath({ ...at, task }));
    await awake(page);
    await page.getByText("The objects are listed once the check has ended.").waitFor();
    await page.getByText("no damage").waitFor();
    assert.ok(await page.evaluate(() => globalThis.shifted) < 0.01);
    await page.getByText("All objects are intact").waitFor();
    await page.context().close();
  });

  await t.step("with scripts the earlier checks to choose from are those of the bucket that is chosen", async () => {
    const earlier = await started({ prefix: "sound/", full: true });
    await endOfTask(gateway, `${CHECKS}/${earlier}`);
    const page = await loggedIn(visit, "/fixity");
    await page.goto(site + fixityPath({ ...at, choices: { baseline: earlier } }));
    await awake(page);
    const choice = page.locator("select[name=baseline]");
    assert.equal(await choice.inputValue(), earlier);
    await page.locator("select[name=bucket]").selectOption("letters");
    assert.deepEqual(await choice.locator("option").allTextContents(), ["none"]);
    assert.equal(await choice.inputValue(), "");
    await page.locator("select[name=bucket]").selectOption(BUCKET);
    assert.match(
      (await choice.locator("option").allTextContents()).join(),
      /^none,[^,]*, \S* UTC, fixity-pages\/sound\/, /,
    );
    await page.context().close();
  });

  await t.step("with scripts a check is cancelled by keys", async () => {
    const page = await loggedIn(visit, "/fixity");
    await started({ rate: SLOWEST });
    await page.reload();
    const cancel = page.getByRole("button", { name: /^Cancel the check/ });
    await cancel.focus();
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await page.getByText("cancelled", { exact: true }).waitFor();
    await page.context().close();
  });

  await t.step(
    "each state is accessible, wide and narrow, light and dark, and fits its window and paper",
    async () => {
      const full = await started({ full: true });
      await endOfTask(gateway, `${CHECKS}/${full}`);
      const running = await started({ rate: SLOWEST });
      const addresses = {
        "list": fixityPath({ account: ACCOUNT }),
        "shown": fixityPath({ account: ACCOUNT, choices: { show: BUCKET } }),
        "form": fixityPath({ ...at, prefix: "odd/line\nbreak" }),
        "choices": fixityPath({ ...at, choices: { bag: 1, manifest: "odd/line\nbreak", full: 1 } }),
        "damage": fixityPath({ ...at, task: full }),
        "all rows": fixityPath({ ...at, task: full, result: "all" }),
        "running": fixityPath({ ...at, task: running }),
        "gone": fixityPath({ ...at, task: "none" }),
      };
      assert.deepEqual(await findingsOf(visit, addresses), []);
    },
  );
});
