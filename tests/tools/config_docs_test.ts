import assert from "node:assert/strict";

import { about, environment } from "@/lib/config/variables.ts";
import { configurationPage } from "@/tools/docs/config_docs.ts";

Deno.test("configuration page: docs/configuration.md is what the schema prints", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  assert.equal(page, configurationPage(), "run: deno task docs");
});

Deno.test("configuration page: every variable and alias stands there once as a row", () => {
  const rows = configurationPage().split("\n").filter((line) => line.startsWith("| `"));
  for (const [name, schema] of Object.entries(environment.shape)) {
    const facts = about.get(schema);
    assert(facts, name);
    assert.equal(rows.filter((row) => row.startsWith(`| \`${name}\` `)).length, 1, name);
    for (const alias of facts.aliases ?? []) assert(rows.some((row) => row.includes(`\`${alias}\``)), alias);
  }
  assert(!configurationPage().includes("[object"));
});
