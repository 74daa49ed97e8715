import assert from "node:assert/strict";

import { findBrowser, launch } from "./chromium.ts";

const none = () => Promise.reject(new Error("not for this system"));

Deno.test("browser: opens a page of a local server, runs its script, and prints which browser it is", async () => {
  const page = `<!doctype html><title>Åtta</title><p id="sum"></p><script>sum.textContent = 3 + 5</script>`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } });
  });
  try {
    const printed: string[] = [];
    const { log } = console;
    console.log = (line: string) => printed.push(line);
    const browser = await launch().finally(() => console.log = log);
    try {
      const { executable } = await findBrowser(Deno.env.toObject());
      assert.deepEqual(printed, [`browser: Chromium ${browser.version()}, ${executable}`]);
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${server.addr.port}/`);
      assert.equal(await tab.title(), "Åtta");
      assert.equal(await tab.textContent("#sum"), "8");
    } finally {
      await browser.close();
    }
  } finally {
    await server.shutdown();
  }
});

Deno.test("browser: CHROMIUM wins over the system's", async () => {
  const { executable } = await findBrowser({ CHROMIUM: Deno.execPath(), PATH: "/usr/bin" }, none);
  assert.equal(executable, Deno.execPath());
});

Deno.test("browser: a CHROMIUM that is not there is named, not passed over", async () => {
  await assert.rejects(findBrowser({ CHROMIUM: "/nowhere/chromium" }, none), /CHROMIUM names \/nowhere\/chromium/);
});

Deno.test("browser: the system's is found on PATH", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/google-chrome`, "");
    const { executable } = await findBrowser({ PATH: `/nowhere:${folder}` }, none);
    assert.equal(executable, `${folder}/google-chrome`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("browser: without any, the error says what to install", async () => {
  await assert.rejects(findBrowser({ PATH: "/nowhere" }, none), /install Chromium .*CHROMIUM.*not for this system/);
});
