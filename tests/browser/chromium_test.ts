import assert from "node:assert/strict";

import { findBrowser } from "./chromium.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const none = () => Promise.reject(new Error("not for this system"));

Deno.test("browser: CHROMIUM wins over the system's", async () => {
  const { executable } = await findBrowser({ CHROMIUM: Deno.execPath(), PATH: "/usr/bin" }, none);
  assert.equal(executable, Deno.execPath());
});

Deno.test("browser: a CHROMIUM that is not there is named, not passed over", async () => {
  await assert.rejects(findBrowser({ CHROMIUM: "/nowhere/chromium" }, none), /CHROMIUM names \/nowhere\/chromium/);
});

Deno.test("browser: the system's is found on PATH", async () => {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await Deno.writeTextFile(`${folder}/google-chrome`, "");
  const { executable } = await findBrowser({ PATH: `/nowhere:${folder}` }, none);
  assert.equal(executable, `${folder}/google-chrome`);
});

Deno.test("browser: without any, the error says what to install", async () => {
  await assert.rejects(findBrowser({ PATH: "/nowhere" }, none), /install Chromium .*CHROMIUM.*not for this system/);
});
