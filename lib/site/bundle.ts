import presetAutoprefix from "@twind/preset-autoprefix";
import presetTailwind from "@twind/preset-tailwind";
import { defineConfig, twind, virtual } from "@twind/core";
import { build, type BuildOptions, type BuildResult, type Plugin } from "esbuild";
import { type Language, LANGUAGES } from "@/lib/presentation/locale/language.ts";
import type { PageScripts, SiteScripts } from "./site.ts";

/** A file of the bundle: its name carries a hash of its content. */
interface BundleFile {
  readonly name: string;
  readonly content: Uint8Array;
}

interface ClientBundle {
  readonly files: readonly BundleFile[];
  /** Names of the script that wakes up the islands, and of the chunks that it needs at once. */
  readonly scripts: Readonly<Record<Language, SiteScripts>>;
  /** Name of the script that reloads pages in development. */
  readonly devScript: string;
}

/**
 * Bundles the code of the browser, once for each language: one entry, and one chunk for each island that loads only on the
 * pages that have it. Files of the same content have the same name in all of them.
 *
 * @param root the project's folder
 * @param islands file names in `islands/`
 * @throws {Error} with the messages of the bundler when a source is not sound
 */
export async function bundleClient(root: string, islands: readonly string[]): Promise<ClientBundle> {
  const [en, sv] = await Promise.all(LANGUAGES.map((language) => bundleLanguage(root, islands, language)));
  const files = new Map([...en.files, ...sv.files].map((file) => [file.name, file]));
  return { files: [...files.values()], scripts: { en: en.scripts, sv: sv.scripts }, devScript: en.devScript };
}

interface LanguageBundle {
  readonly files: readonly BundleFile[];
  readonly scripts: SiteScripts;
  readonly devScript: string;
}

async function bundleLanguage(root: string, islands: readonly string[], language: Language): Promise<LanguageBundle> {
  const result = await build({
    ...options(root, language, entrySource(loaders(islands), language)),
    entryPoints: [{ in: ENTRY, out: "site" }, { in: `${root}/lib/client/dev_reload_client.ts`, out: "dev_reload" }],
  });
  const list = await bundleList(root, islands.filter((file) => ISLANDS_OF_LIST.includes(file)), language);
  return {
    files: [...result.outputFiles, ...list.outputFiles].map(({ path, contents }) => ({
      name: nameOf(path),
      content: contents,
    })),
    scripts: { ...scriptsOf(result, ENTRY), list: scriptsOf(list, ENTRY) },
    devScript: scriptsOf(result, "dev_reload_client").script,
  };
}

/** The names of an entry point's file and of the chunks that it needs at once. */
function scriptsOf({ metafile }: Bundled, entryPoint: string): PageScripts {
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint?.includes(entryPoint));
  if (!entry) throw new Error("the bundler left out an entry point");
  const [path, { imports }] = entry;
  const needed = imports.filter(({ kind }) => kind === "import-statement");
  return { script: nameOf(path), preload: needed.map(({ path }) => nameOf(path)) };
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
    plugins: [siteEntry(root, entry), sentencesOf(language)],
    alias: { "@": root },
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

/** Puts the tables of one language in the place of those of every other one, so that a bundle holds one language. */
function sentencesOf(language: Language): Plugin {
  const others = LANGUAGES.filter((other) => other !== language).join("|");
  return {
    name: `sentences in ${language}`,
    setup(bundler) {
      const folder = new RegExp(`/locales/(?:${others})/`);
      bundler.onResolve(
        { filter: folder },
        ({ path, resolveDir, kind }) =>
          bundler.resolve(path.replace(folder, `/locales/${language}/`), { resolveDir, kind }),
      );
    },
  };
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
    `import { completeWayBack, hydrateIslands } from "@/lib/client/hydrate.ts";`,
    `import { readLanguageFrom } from "@/lib/presentation/locale/language.ts";`,
    `readLanguageFrom(() => ${JSON.stringify(language)});`,
    `completeWayBack(document);`,
    `hydrateIslands(document, {${loaders.join("\n")}});`,
  ].join("\n");
}

/** The styles of components, in the order in which they apply. */
export const STYLE_FILES = [
  "tokens.css",
  "base.css",
  "top_bar.css",
  "board.css",
  "card.css",
  "card_volumes.css",
  "card_widths.css",
  "log.css",
  "confidence.css",
  "alto.css",
  "run_summary.css",
  "login.css",
  "viewer.css",
  "viewer_panels.css",
  "viewer_widths.css",
  "storage.css",
  "storage_files.css",
  "storage_object.css",
  "storage_widths.css",
  "storage_records.css",
  "uploads.css",
  "storage_tasks.css",
  "dock.css",
];

/**
 * One stylesheet of the components' styles and the utility classes that the sources use. Utilities come last, so that a
 * component may be adjusted where it is placed.
 *
 * @param styles the texts of {@link STYLE_FILES}
 * @param sources texts of components, islands and pages
 */
export function stylesheet(styles: readonly string[], sources: readonly string[]): string {
  return [...styles, utilities(sources)].join("\n");
}

/** The rules for every utility named in a class of the sources. */
function utilities(sources: readonly string[]): string {
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
