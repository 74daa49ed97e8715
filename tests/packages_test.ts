import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { builder } from "@/lib/site/site.ts";
import { OUTSIDE } from "@/tools/import_rules.ts";
import { readSources } from "@/tools/imports.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Every further program is a script of tools/ or bench/, listed in CONTRIBUTING.md. */
const TASKS = "start dev build test test:units test:end_to_end check ok bench fuzz docs user backup verify reset".split(
  " ",
);

async function imports(config: string): Promise<Record<string, string>> {
  return JSON.parse(await Deno.readTextFile(new URL(`../${config}`, import.meta.url))).imports;
}

Deno.test("packages: the tests run with the versions that the start runs with", async () => {
  const tests = await imports("deno.test.json");
  for (const [name, version] of Object.entries(await imports("deno.json"))) assert.equal(tests[name], version, name);
});

/** Packages that a file imports or loads, as the formatter writes that. */
const IMPORTED = /(?:^(?:import|export)\b[\w$*{},\s]*\bfrom\s*|^import\s+|\bimport\()"([^".][^"]*)"/gm;

Deno.test("packages: the product has no others than deno.json, so that one check of types is enough", async () => {
  const names = Object.keys(await imports("deno.json"));
  const isOutside = (file: string) => OUTSIDE.some((folder) => file.startsWith(`${folder}/`));
  for (const [file, text] of readSources(ROOT)) {
    if (isOutside(file)) continue;
    for (const [, specifier] of text.matchAll(IMPORTED)) {
      const isKnown = names.some((name) => specifier === name || specifier.startsWith(`${name.replace(/\/$/, "")}/`));
      assert.ok(isKnown || specifier.startsWith("node:"), `${file}: ${specifier}`);
    }
  }
  const [product, tests] = await Promise.all(
    ["deno.json", "deno.test.json"].map(async (config) => JSON.parse(await Deno.readTextFile(ROOT + config))),
  );
  for (const member of ["compilerOptions", "unstable"]) assert.deepEqual(tests[member], product[member]);
});

Deno.test("packages: the builder that the launcher may run is the one of the version that is installed", async () => {
  const version = (await imports("deno.json")).esbuild.split("@").at(-1);
  assert.match(builder(), new RegExp(`/node_modules/.deno/@esbuild\\+[a-z0-9-]+@${version}/`));
  assert.ok((await Deno.stat(builder())).isFile);
});

Deno.test("packages: deno.json has few tasks, and a build in the launcher's hands alone", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../deno.json", import.meta.url)));
  assert.deepEqual(Object.keys(tasks), TASKS);
  assert.equal(tasks.build.command, "deno run --no-prompt --allow-run launch.ts --build");
});

Deno.test("packages: the start builds the site in a step before it, and hands its rights to the launcher alone", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../deno.json", import.meta.url)));
  assert.deepEqual(tasks.start.dependencies, ["build"]);
  assert.equal(tasks.start.command, "deno run --no-prompt --allow-run launch.ts --of-task");
  for (const name of Object.keys(tasks)) {
    if (!name.startsWith("test") && !name.startsWith("bench")) assert.doesNotMatch(tasks[name].command, /--allow-sys/);
  }
});

Deno.test("packages: every version is exact, so that a lock file can be made again", async () => {
  for (const config of ["deno.json", "deno.test.json"]) {
    for (const [name, version] of Object.entries(await imports(config))) {
      if (name !== "@/") assert.match(version, /^npm:(@[^@]+|[^@]+)@\d+\.\d+\.\d+$/, `${config}: ${name}`);
    }
  }
});

Deno.test("packages: editors that cannot read deno.json resolve the same alias by tsconfig.json", async () => {
  const { compilerOptions } = JSON.parse(await Deno.readTextFile(new URL("../tsconfig.json", import.meta.url)));
  assert.deepEqual(compilerOptions.paths, { "@/*": [`${(await imports("deno.json"))["@/"]}*`] });
});
