import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { siteAssets } from "@/lib/site/build.ts";
import { LANGUAGES } from "@/lib/pages/locale/language.ts";
import { SCRIPT_FAILURE as EN } from "@/locales/en/frame.ts";
import { SCRIPT_FAILURE as SV } from "@/locales/sv/frame.ts";
import { BuildError, buildFolder, builtAssets, PROJECT_FOLDER } from "@/lib/site/site.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

/** A small project of its own, with the packages and the base of the real one. */
async function inProject(test: (root: string) => Promise<void>) {
  const root = await Deno.makeTempDir();
  using _removal = removeAtEnd(root);
  for (
    const folder of [
      "islands",
      "components",
      "routes",
      "lib/campaigns/projection",
      "lib/pages/browser",
      "lib/pages/locale",
      "locales/en",
      "locales/sv",
      "lib/site/styles",
      "lib/std",
    ]
  ) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  await Deno.symlink(`${PROJECT_FOLDER}/node_modules`, `${root}/node_modules`);
  await Deno.writeTextFile(`${root}/deno.lock`, "{}");
  for (
    const name of [
      "lib/pages/browser/hydrate_client.ts",
      "lib/pages/browser/island.tsx",
      "lib/pages/browser/dev_reload_client.ts",
      "lib/pages/locale/language.ts",
      "lib/pages/page_paths.ts",
      "lib/pages/frame_sentences.ts",
      "locales/en/frame.ts",
      "locales/sv/frame.ts",
      "lib/std/text.ts",
    ]
  ) {
    await Deno.copyFile(`${PROJECT_FOLDER}/${name}`, `${root}/${name}`);
  }
  await Deno.writeTextFile(`${root}/lib/site/styles/tokens.css`, "");
  await Deno.writeTextFile(`${root}/lib/site/styles/site.css`, '@import "./tokens.css";');
  await Deno.writeTextFile(
    `${root}/islands/hello.tsx`,
    `import { island } from "@/lib/pages/browser/island.tsx";\nexport default island("hello", () => <p class="flex">Hej</p>);\n`,
  );
  await test(root);
}

const list = (root: string) => [...Deno.readDirSync(buildFolder(root))].map(({ name }) => name).sort();

Deno.test("build: an entry, a chunk per island, one stylesheet, all with hashed names", () =>
  inProject(async (root) => {
    assert.throws(() => builtAssets(root), { name: "BuildError", message: /is not built.*deno task build/ });
    const assets = await siteAssets({ root });
    assert.deepEqual(builtAssets(root), assets);
    const { en, sv } = assets.scripts;
    for (const { script } of [en, sv]) assert.match(script, /^\/build\/site-[A-Z0-9]{8}\.js$/);
    assert.notEqual(en.script, sv.script);
    assert.match(assets.stylesheet, /^\/build\/site-[A-Z0-9]{8}\.css$/);
    assert.equal(assets.devScript, null);
    assert.match((await siteAssets({ root, dev: true })).devScript ?? "", /^\/build\/dev_reload-[A-Z0-9]{8}\.js$/);
    assert.ok(list(root).some((name) => /^hello-[A-Z0-9]{8}\.js$/.test(name)));
    for (const path of [en.script, sv.script, assets.stylesheet, ...en.preload, ...sv.preload]) {
      assert.ok(list(root).includes(path.replace("/build/", "")), path);
    }
    assert.match(await Deno.readTextFile(`${root}/static${assets.stylesheet}`), /\.flex\{display:flex\}/);
  }));

Deno.test("build: the scripts of a language hold its sentences alone", () =>
  inProject(async (root) => {
    const { scripts } = await siteAssets({ root });
    const texts = LANGUAGES.map((language) => {
      const { script, preload } = scripts[language];
      return [script, ...preload].map((path) => Deno.readTextFileSync(`${root}/static${path}`)).join("");
    });
    for (const [place, other] of [[0, 1], [1, 0]]) {
      const { tryAgain } = [EN, SV][place];
      assert.ok(texts[place].includes(tryAgain), tryAgain);
      assert.ok(!texts[other].includes(tryAgain), tryAgain);
    }
  }));

Deno.test("build: compressed forms lie beside the files that they make smaller, and are part of the build", () =>
  inProject(async (root) => {
    const { script } = (await siteAssets({ root })).scripts.en;
    const original = await Deno.readFile(`${root}/static${script}`);
    assert.deepEqual(new Uint8Array(gunzipSync(await Deno.readFile(`${root}/static${script}.gz`))), original);
    assert.deepEqual(new Uint8Array(brotliDecompressSync(await Deno.readFile(`${root}/static${script}.br`))), original);
    for (const name of list(root).filter((name) => /\.(?:br|gz)$/.test(name))) {
      const [form, file] = [name, name.replace(/\.\w+$/, "")].map((name) =>
        Deno.statSync(`${buildFolder(root)}/${name}`)
      );
      assert.ok(form.size < file.size, name);
    }
    await Deno.remove(`${root}/static${script}.br`);
    assert.throws(() => builtAssets(root), BuildError);
  }));

Deno.test("build: in development nothing is compressed, and a later build makes up for it", () =>
  inProject(async (root) => {
    const forms = () => list(root).filter((name) => /\.(?:br|gz)$/.test(name));
    const dev = await siteAssets({ root, dev: true });
    assert.deepEqual(forms(), []);
    assert.deepEqual({ ...dev, devScript: null }, await siteAssets({ root }));
    assert.notDeepEqual(forms(), []);
    const built = forms();
    assert.deepEqual(await siteAssets({ root, dev: true }), dev);
    assert.deepEqual(forms(), built);
  }));

Deno.test("build: unchanged sources are not built again, changed ones are, a lost file is made again", () =>
  inProject(async (root) => {
    const first = await siteAssets({ root });
    const manifest = `${buildFolder(root)}/manifest.json`;
    const builtAt = () => Deno.statSync(manifest).ino;
    const before = builtAt();
    assert.deepEqual(await siteAssets({ root }), first);
    assert.equal(builtAt(), before);

    await Deno.writeTextFile(`${root}/lib/site/styles/tokens.css`, ":root { --ink: #000 }");
    const second = await siteAssets({ root });
    assert.notEqual(second.stylesheet, first.stylesheet);
    assert.ok(list(root).includes(first.stylesheet.replace("/build/", "")), "an open page still finds its files");

    await Deno.remove(`${root}/static${second.scripts.sv.script}`);
    assert.deepEqual(await siteAssets({ root }), second);
    assert.ok(Deno.statSync(`${root}/static${second.scripts.sv.script}`).isFile);
  }));

Deno.test("build: a source that is not sound is named", () =>
  inProject(async (root) => {
    await Deno.writeTextFile(`${root}/islands/broken.tsx`, "export default <p>;");
    await assert.rejects(siteAssets({ root }), (error) => {
      assert.ok(error instanceof BuildError);
      assert.match(error.message, /islands\/broken\.tsx/);
      return true;
    });
  }));

Deno.test("build: every island of the project is named after its file", async () => {
  for (const { name, isFile } of Deno.readDirSync(`${PROJECT_FOLDER}/islands`)) {
    if (!isFile) continue;
    const source = await Deno.readTextFile(`${PROJECT_FOLDER}/islands/${name}`);
    const [, own] = /^export default island\(\s*"(\w+)",/m.exec(source) ?? [];
    assert.equal(`${own}.tsx`, name);
  }
});

/** Bytes of the list's scripts on the way, in each coding. Browsers take brotli only over HTTPS and from this machine. */
const LIST_BYTES = { br: 37_000, gz: 40 * 1024 } as const;

Deno.test("build: the scripts of the list are small on the way, in each language and coding", async () => {
  const { scripts } = await siteAssets();
  for (const language of LANGUAGES) {
    const { script, preload } = scripts[language].list;
    for (const [coding, most] of Object.entries(LIST_BYTES)) {
      const sizes = [script, ...preload].map((path) => Deno.statSync(`${PROJECT_FOLDER}/static${path}.${coding}`).size);
      const sum = sizes.reduce((all, size) => all + size);
      assert.ok(sum > 10_000 && sum <= most, `${language}, ${coding}: ${sizes.join(" + ")} bytes`);
    }
  }
});

/** The islands of a folder's page. */
const FOLDER_ISLANDS = ["storage_folder", "storage_tasks", "storage_uploads", "theme_switch"];
/** Bytes of the scripts that a folder's page loads before anything is clicked. */
const FOLDER_BYTES = { br: 61_500, gz: 68_000 } as const;

/** A script and all that it imports before it runs, by their names in the build's folder. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = Deno.readTextFileSync(`${buildFolder()}/${name}`);
  for (const [, imported] of text.matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g)) withImports(imported, found);
  return found;
}

Deno.test("build: the scripts of a folder's page are small on the way, in each language and coding", async () => {
  const { scripts } = await siteAssets();
  for (const language of LANGUAGES) {
    const entry = scripts[language].script.replace("/build/", "");
    const loaders = Deno.readTextFileSync(`${buildFolder()}/${entry}`);
    const loaded = withImports(entry);
    for (const island of FOLDER_ISLANDS) {
      const [, chunk] = new RegExp(`\\b${island}:\\(\\)=>import\\("\\./([^"]+)"\\)`).exec(loaders) ?? [];
      assert.ok(chunk, island);
      withImports(chunk, loaded);
    }
    for (const [coding, most] of Object.entries(FOLDER_BYTES)) {
      // What does not become smaller has no compressed form.
      const bytes = [...loaded].map((name) => {
        try {
          return Deno.statSync(`${buildFolder()}/${name}.${coding}`).size;
        } catch {
          return Deno.statSync(`${buildFolder()}/${name}`).size;
        }
      }).reduce((sum, size) => sum + size, 0);
      assert.ok(bytes > 20_000 && bytes <= most, `${language}, ${coding}: ${bytes} bytes`);
    }
  }
});
