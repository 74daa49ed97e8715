import assert from "node:assert/strict";
import { GOLDEN, printed, servedDocument } from "./openapi_document.ts";

Deno.test("openapi: /openapi.json is the golden copy, so that a diff shows every change of the contract", async () => {
  const served = printed(await servedDocument()).split("\n");
  const golden = (await Deno.readTextFile(GOLDEN)).trimEnd().split("\n");
  const longest = Math.max(served.length, golden.length);
  const at = Array.from({ length: longest }, (_, n) => n).find((n) => served[n] !== golden[n]);
  if (at === undefined) return;
  const change = `line ${at + 1} was ${golden[at]}, is ${served[at]}`;
  assert.fail(`${change}: if that is meant, run deno task docs and commit the diff`);
});
