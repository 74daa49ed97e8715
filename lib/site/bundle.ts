import presetAutoprefix from "@twind/preset-autoprefix";
import presetTailwind from "@twind/preset-tailwind";
import { defineConfig, twind, virtual } from "@twind/core";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";
import { type Language, LANGUAGES } from "@/lib/pages/locale/language.ts";
import { type Assets, BUILD_PATH, type PageScripts } from "./site.ts";

/** Ends the bundler. */
export { stop } from "esbuild";

/** The folder of the styles of components. */
const STYLES = "lib/site/styles";

/** A file of the bundle: its name carries a hash of its content. */
interface BundleFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** The files of a site, and which of them pages load. */
interface Bundle {
  readonly files: readonly BundleFile[];
  readonly assets: Assets & { readonly devScript: string };
}

/**
 * Bundles the code of the browser, once for each language: one entry, and one chunk for each island that loads only on the
 * pages that have it. Files of the same content have the same name in all of them.
 *
 * @param root the project's folder
 * @param islands file names in `islands/`
 * @param pages the texts of components, islands and pages
 * @throws {Error} with the messages of the bundler when a source is not sound
 */
export async function bundleSite(root: string, islands: readonly string[], pages: readonly string[]): Promise<Bundle> {
  const [en, sv] = await Promise.all(LANGUAGES.map((language) => bundleLanguage(root, islands, language)));
  const style = await bundleStyles(root, pages);
  const files = new Map([...en.files, ...sv.files, style].map((file) => [file.name, file]));
  const scripts = { en: en.scripts, sv: sv.scripts };
  const assets = { scripts, stylesheet: BUILD_PATH + style.name, devScript: en.devScript };
  return { files: [...files.values()], assets };
}

async function bundleLanguage(root: string, islands: readonly string[], language: Language) {
  const result = await build({
    ...options(root, language, entrySource(loaders(islands), language)),
    entryPoints: [{ in: ENTRY, out: "site" }, {
      in: `${root}/lib/pages/browser/dev_reload_client.ts`,
      out: "dev_reload",
    }],
  });
  const list = await bundleList(root, islands.filter((file) => ISLANDS_OF_LIST.includes(file)), language);
  const outputs = [...result.outputFiles, ...list.outputFiles];
  return {
    files: outputs.map(({ path, contents }): BundleFile => ({ name: nameOf(path), content: contents })),
    scripts: { ...scriptsOf(result, ENTRY), list: scriptsOf(list, ENTRY) },
    devScript: scriptsOf(result, "dev_reload_client").script,
  };
}

/** The addresses of an entry point's file and of the chunks that it needs at once. */
function scriptsOf({ metafile }: Bundled, entryPoint: string): PageScripts {
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint?.includes(entryPoint));
  if (!entry) throw new Error("the bundler left out an entry point");
  const [path, { imports }] = entry;
  const needed = imports.filter(({ kind }) => kind === "import-statement");
  const address = (path: string) => BUILD_PATH + nameOf(path);
  return { script: address(path), preload: needed.map(({ path }) => address(path)) };
}

const ENTRY = "stackroom:site";

/** The islands on the page of the list. */
const ISLANDS_OF_LIST: readonly string[] = ["campaign_board.tsx", "theme_switch.tsx"];

/** The list's page without the chunks that other pages share, which make its code a tenth larger, compressed. */
function bundleList(root: string, islands: readonly string[], language: Language): Promise<Bundled> {
  const imports = islands.map((file, place) => `import island${place} from ${JSON.stringify(`@/islands/${file}`)};`);
  const loaders = islands.map((file, place) => `${nameOfIsland(file)}: () => ({ default: island${place} }),`);
  return build({
    ...options(root, language, [...imports, entrySource(loaders, language)].join("\n")),
    entryPoints: [{ in: ENTRY, out: "list" }],
  });
}

type Bundled = BuildResult<ReturnType<typeof options>>;

function options(root: string, language: Language, entry: string) {
  return {
    absWorkingDir: root,
    plugins: [siteEntry(root, entry)],
    alias: { ...tablesOf(root, language), "@": root },
    bundle: true,
    format: "esm",
    target: "es2023",
    minify: true,
    // Letters such as å as they are, not as escapes.
    charset: "utf8",
    // "precompile" of Deno would break hydration of the same files here.
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: `${root}/static/build`,
    entryNames: "[name]-[hash]",
    splitting: true,
    chunkNames: "[name]-[hash]",
    metafile: true,
    write: false,
    logLevel: "silent",
  } as const satisfies BuildOptions;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Puts the entry, which no file holds, into a bundle. */
function siteEntry(root: string, contents: string): Plugin {
  return {
    name: "site entry",
    setup(bundler) {
      bundler.onResolve({ filter: new RegExp(`^${ENTRY}$`) }, () => ({ path: ENTRY, namespace: "entry" }));
      bundler.onLoad({ filter: /.*/, namespace: "entry" }, () => ({ contents, loader: "ts", resolveDir: root }));
    },
  };
}

/** Resolves the tables of every language to those of one, so that a bundle holds one language. */
function tablesOf(root: string, language: Language): Record<string, string> {
  return Object.fromEntries(LANGUAGES.map((other) => [`@/locales/${other}`, `${root}/locales/${language}`]));
}

/** The members of an object with a function for each island, which loads its code. */
function loaders(islands: readonly string[]): string[] {
  return islands.map((file) => `${nameOfIsland(file)}: () => import(${JSON.stringify(`@/islands/${file}`)}),`);
}

function nameOfIsland(file: string): string {
  return JSON.stringify(file.replace(/\.tsx$/, ""));
}

/** @param loaders members of an object, as {@link loaders} writes them */
function entrySource(loaders: readonly string[], language: Language): string {
  return [
    `import { completeBackLink, hydrateIslands } from "@/lib/pages/browser/hydrate_client.ts";`,
    `import { readLanguageFrom } from "@/lib/pages/locale/language.ts";`,
    `readLanguageFrom(() => ${JSON.stringify(language)});`,
    `completeBackLink(document);`,
    `hydrateIslands(document, {${loaders.join("\n")}});`,
  ].join("\n");
}

/**
 * One stylesheet of the components' styles and the utility classes that the sources use. Utilities come last, so that a
 * component may be adjusted where it is placed.
 *
 * @param sources texts of components, islands and pages
 */
async function bundleStyles(root: string, sources: readonly string[]): Promise<BundleFile> {
  const { outputFiles: [{ path, contents }] } = await build({
    absWorkingDir: root,
    stdin: { contents: `@import "./site.css";\n${utilities(sources)}`, loader: "css", resolveDir: `${root}/${STYLES}` },
    bundle: true,
    minify: true,
    target: "es2023",
    outdir: `${root}/static/build`,
    entryNames: "site-[hash]",
    write: false,
    logLevel: "silent",
  });
  return { name: nameOf(path), content: contents };
}

/** The rules for every utility named in a class of the sources. */
export function utilities(sources: readonly string[]): string {
  const sheet = virtual();
  const tw = twind(UTILITIES, sheet);
  for (const name of new Set(sources.flatMap(classNames))) tw(name);
  const rules = sheet.target.join("\n");
  tw.destroy();
  return rules;
}

/** Words of `class="…"` and of `class={…}`; other words than utilities produce no rule. */
function classNames(source: string): string[] {
  const texts = [...source.matchAll(/\bclass=(?:"([^"]*)"|\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\})/g)];
  return texts.flatMap(([, plain, code]) => (plain ?? code).split(/[^\w\-:/.[\]!]+/)).filter(Boolean);
}

/** Space and colour are those of tokens.css, so that a utility cannot name another value. */
const UTILITIES = defineConfig({
  presets: [presetAutoprefix(), presetTailwind({ disablePreflight: true })],
  hash: false,
  theme: {
    screens: { wide: "641px" },
    colors: {
      muted: "var(--muted)",
      ink: "var(--ink)",
      bad: "var(--bad)",
      warn: "var(--warn)",
      transparent: "transparent",
    },
    spacing: {
      0: "0",
      1: "var(--s1)",
      2: "var(--s2)",
      3: "var(--s3)",
      4: "var(--s4)",
      5: "var(--s5)",
      6: "var(--s6)",
      auto: "auto",
    },
    fontSize: { s: "var(--t-s)", m: "var(--t-m)", l: "var(--t-l)", xl: "var(--t-xl)" },
  },
});
