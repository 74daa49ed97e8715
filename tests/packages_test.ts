import assert from "node:assert/strict";

async function imports(config: string): Promise<Record<string, string>> {
  return JSON.parse(await Deno.readTextFile(new URL(`../${config}`, import.meta.url))).imports;
}

Deno.test("packages: the tests run with the versions that the start runs with", async () => {
  const tests = await imports("deno.test.json");
  for (const [name, version] of Object.entries(await imports("deno.json"))) assert.equal(tests[name], version, name);
});

Deno.test("packages: every version is exact, so that a lock file can be made again", async () => {
  for (const config of ["deno.json", "deno.test.json", "deno.browser.json"]) {
    for (const [name, version] of Object.entries(await imports(config))) {
      if (name !== "@/") assert.match(version, /^npm:(@[^@]+|[^@]+)@\d+\.\d+\.\d+$/, `${config}: ${name}`);
    }
  }
});
