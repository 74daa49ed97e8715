import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { isAllowed, OUTSIDE, roomOf } from "@/tools/import_rules.ts";
import { circles, folderOf, readExports, readImports, readSources } from "@/tools/imports.ts";
import { ROOMS_BEGIN, ROOMS_END, roomTable } from "@/tools/docs/rooms_docs.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const sources = readSources(ROOT);
const imports = readImports(sources);
/** Named in the source of the bundle's entry, which lib/site/bundle.ts writes. */
const BUNDLED = [
  "lib/pages/browser/hydrate_client.ts hydrateIslands",
  "lib/pages/browser/hydrate_client.ts completeBackLink",
];
const isOutside = (file: string) => OUTSIDE.some((folder) => file.startsWith(`${folder}/`));
const inner = imports.filter(({ from }) => !isOutside(from));

Deno.test("imports: every file lies in a room", () => {
  assert.deepEqual([...sources.keys()].filter((file) => !isOutside(file) && !roomOf(file)), []);
});

Deno.test("imports: all go in the directions of the table", () => {
  const forbidden = inner.filter((found) => !isAllowed(found));
  assert.deepEqual(forbidden.map(({ from, to, names }) => `${from} -> ${to} {${names.join(", ")}}`), []);
});

Deno.test("imports: files make no circles", () => {
  assert.deepEqual(circles(imports.map(({ from, to }) => [from, to])), []);
});

Deno.test("imports: folders make no circles", () => {
  const edges = inner.filter(({ from, to }) => folderOf(from) !== folderOf(to));
  assert.deepEqual(circles(edges.map(({ from, to }) => [folderOf(from), folderOf(to)])), []);
});

Deno.test("imports: relative inside a folder, @/ across folders", () => {
  const wrong: string[] = [];
  for (const [file, text] of sources) {
    for (const [, specifier] of text.matchAll(/^(?:import|export)\b[\w$*{},\s]*\bfrom\s*"((?:\.|@\/)[^"]+)"/gm)) {
      const isSame = specifier.startsWith("@/") && folderOf(specifier.slice(2)) === folderOf(file);
      if (isSame || /^\.\.?\/.*\//.test(specifier) || specifier.startsWith("../")) wrong.push(`${file}: ${specifier}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("exports: each one is imported somewhere", () => {
  const used = new Set([...BUNDLED, ...imports.flatMap(({ to, names }) => names.map((name) => `${to} ${name}`))]);
  const unused = readExports(sources).filter(({ file, name }) =>
    !isOutside(file) && !used.has(`${file} ${name}`) && !used.has(`${file} *`)
  );
  assert.deepEqual(unused.map(({ file, name }) => `${file}: ${name}`), []);
});

Deno.test("docs: the table of rooms in docs/architecture.md is the one that is tested", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/architecture.md`);
  const shown = page.slice(page.indexOf(ROOMS_BEGIN) + ROOMS_BEGIN.length, page.indexOf(ROOMS_END)).trim();
  assert.equal(shown, roomTable());
});
