import project from "@/deno.json" with { type: "json" };
import { fileURLToPath } from "node:url";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { type Language, LANGUAGES } from "@/lib/pages/locale/language.ts";

/** The built files of the site, as addresses of our own origin. */
export interface Assets {
  readonly scripts: Readonly<Record<Language, SiteScripts>>;
  readonly stylesheet: string;
  /** Reloads the page when the server starts again; null but in development. */
  readonly devScript: string | null;
}

/** The scripts of a page. */
export interface PageScripts {
  readonly script: string;
  /** Chunks that the page needs at once, so that they are fetched beside the script and not after it. */
  readonly preload: readonly string[];
}

/** The scripts of the site's pages in one language. */
interface SiteScripts extends PageScripts {
  /** The scripts of the list of campaigns, the most visited page: smaller than the chunks with the same code. */
  readonly list: PageScripts;
}

/** The name of the manifest of a build. */
export const MANIFEST = "manifest.json";
/** The folder of deno.json, without a trailing slash. */
export const PROJECT_FOLDER = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

/** Where the built files lie, and under which address they are served. */
export function buildFolder(root: string = PROJECT_FOLDER): string {
  return `${root}/static/build`;
}
export const BUILD_PATH = "/build/";

/** Raised when the site cannot be built; the message says what to do. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

/** The manifest of a finished build. */
export interface Manifest {
  /** Hash of all sources. */
  readonly sources: string;
  readonly assets: Assets;
  /** Every file of this build. */
  readonly files: readonly string[];
}

/**
 * The site's scripts and stylesheet of the last build.
 *
 * @throws {BuildError} where there is none
 */
export function builtAssets(root: string = PROJECT_FOLDER): Assets {
  const manifest = readManifest(root);
  if (!manifest || !isComplete(root, manifest)) {
    throw new BuildError("The site is not built: build it with `deno task build`, or start with `deno task start`");
  }
  return assetsOf(manifest, false);
}

/** The files of a build that pages load. */
export function assetsOf({ assets }: Manifest, dev: boolean): Assets {
  return dev ? assets : { ...assets, devScript: null };
}

/** The program that bundles. */
export function builder(): string {
  const { os, arch } = Deno.build;
  const platform = `${os === "windows" ? "win32" : os}-${arch === "aarch64" ? "arm64" : "x64"}`;
  const version = project.imports.esbuild.split("@").at(-1);
  const name = `@esbuild+${platform}@${version}/node_modules/@esbuild/${platform}/bin/esbuild`;
  return `${PROJECT_FOLDER}/node_modules/.deno/${name}`;
}

/** The manifest of the last build; null where there was none. */
export function readManifest(root: string): Manifest | null {
  try {
    const manifest: Manifest = JSON.parse(Deno.readTextFileSync(`${buildFolder(root)}/${MANIFEST}`));
    const isWhole = LANGUAGES.every((language) => manifest.assets.scripts[language].list.script !== undefined);
    return Array.isArray(manifest.files) && isWhole ? manifest : null;
  } catch {
    return null;
  }
}

/** Whether all files of a build are there. */
export function isComplete(root: string, { files }: Manifest): boolean {
  try {
    return files.every((name) => Deno.statSync(`${buildFolder(root)}/${name}`).isFile);
  } catch {
    return false;
  }
}

/** ms after which a browser connects again when the stream ended: soon, since a start takes well under a second. */
const RETRY_MS = 100;

/** An event stream that names the process; a page that receives another name than before loads itself again. */
export function devReload(): (context: RequestContext) => Response {
  const process = crypto.randomUUID();
  return function devReload(context) {
    context.mustRead();
    context.operation = "dev_reload";
    const hello = new TextEncoder().encode(`retry: ${RETRY_MS}\ndata: ${process}\n\n`);
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(hello) });
    return new Response(stream, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
  };
}
