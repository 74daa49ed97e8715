import assert from "node:assert/strict";
import { noticesPage } from "@/tools/docs/notices.ts";

const [sent, others] = noticesPage().split("USED BY THE SERVER AND BY THE BUILD");

Deno.test("notices: THIRD_PARTY_NOTICES.txt is what the installed packages say", async () => {
  const page = await Deno.readTextFile(new URL("../../THIRD_PARTY_NOTICES.txt", import.meta.url));
  assert.equal(page, `${sent}USED BY THE SERVER AND BY THE BUILD${others}`, "run: deno task docs");
});

Deno.test("notices: packages of the bundle and of the API page stand among those that are sent to browsers", () => {
  for (const name of ["preact", "@preact/signals", "openseadragon", "diff", "uqr", "swagger-ui-dist"]) {
    assert.match(sent, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"), name);
  }
  for (const name of ["hono", "ioredis", "jose", "@kubernetes/client-node"]) {
    assert.match(others, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"), name);
    assert.ok(!sent.includes(`\n${name} `), name);
  }
});

Deno.test("notices: licences of what is distributed let it be distributed under MIT", () => {
  const licences = [...`${sent}${others}`.matchAll(/^\S+ \d+\.\d+\.\d+\S* \((.+)\)$/gm)].map(([, licence]) => licence);
  assert.ok(licences.length > 80);
  const allowed = /^(MIT|ISC|0BSD|Unlicense|Apache-2\.0|BSD-[23]-Clause|MIT-0|BlueOak-1\.0\.0|Python-2\.0)$/;
  assert.deepEqual(licences.filter((licence) => !allowed.test(licence)), []);
});
