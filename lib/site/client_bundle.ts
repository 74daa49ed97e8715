import { build } from "esbuild";

/** A file of the bundle: its name carries a hash of its content. */
interface BundleFile {
  readonly name: string;
  readonly content: Uint8Array;
}

interface ClientBundle {
  readonly files: readonly BundleFile[];
  /** Name of the script that wakes up the islands. */
  readonly script: string;
  /** Names of the chunks that it needs at once. */
  readonly preload: readonly string[];
  /** Name of the script that reloads pages in development. */
  readonly devScript: string;
}

/**
 * Bundles the code of the browser: one entry, and one chunk for each island that loads only on the pages that have it.
 *
 * @param root the project's folder
 * @param islands file names in `islands/`
 * @throws {Error} with the messages of the bundler when a source is not sound
 */
export async function bundleClient(root: string, islands: readonly string[]): Promise<ClientBundle> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [{ in: ENTRY, out: "site" }, { in: `${root}/lib/client/dev_reload_client.ts`, out: "dev_reload" }],
    plugins: [{
      name: "site entry",
      setup(bundler) {
        bundler.onResolve({ filter: new RegExp(`^${ENTRY}$`) }, () => ({ path: ENTRY, namespace: "entry" }));
        bundler.onLoad({ filter: /.*/, namespace: "entry" }, () => ({
          contents: entrySource(islands),
          loader: "ts",
          resolveDir: root,
        }));
      },
    }],
    alias: { "@": root },
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2023",
    minify: true,
    // "precompile" of Deno would break hydration of the same files here.
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: `${root}/static/build`,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const outputs = Object.entries(result.metafile.outputs);
  const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  const entry = (part: string) => outputs.find(([, output]) => output.entryPoint?.includes(part));
  const script = entry(ENTRY);
  const devScript = entry("dev_reload_client");
  if (!script || !devScript) throw new Error("the bundler left out an entry point");
  return {
    files: result.outputFiles.map(({ path, contents }) => ({ name: nameOf(path), content: contents })),
    script: nameOf(script[0]),
    preload: script[1].imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => nameOf(path)),
    devScript: nameOf(devScript[0]),
  };
}

const ENTRY = "stackroom:site";

function entrySource(islands: readonly string[]): string {
  const loaders = islands.map((file) => {
    const name = file.replace(/\.tsx$/, "");
    return `${JSON.stringify(name)}: () => import(${JSON.stringify(`@/islands/${file}`)}),`;
  });
  return `import { hydrateIslands } from "@/lib/client/hydrate.ts";
hydrateIslands(document, {${loaders.join("\n")}});`;
}
