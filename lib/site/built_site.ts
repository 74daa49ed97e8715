import { fileURLToPath } from "node:url";

import project from "@/deno.json" with { type: "json" };
import { type Language, LANGUAGES } from "@/lib/presentation/locale/language.ts";
import type { Assets, PageScripts, SiteScripts } from "./site.ts";

/** What a build wrote, beside its files. */
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

/** What a finished build leaves behind. */
export interface Manifest {
  /** Hash of all sources. */
  readonly sources: string;
  readonly scripts: Readonly<Record<Language, SiteScripts>>;
  readonly stylesheet: string;
  readonly devScript: string;
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

/** A build as addresses of our own origin. */
export function assetsOf(manifest: Manifest, dev: boolean): Assets {
  const addresses = ({ script, preload }: PageScripts): PageScripts => ({
    script: BUILD_PATH + script,
    preload: preload.map((name) => BUILD_PATH + name),
  });
  const ofSite = (scripts: SiteScripts) => ({ ...addresses(scripts), list: addresses(scripts.list) });
  const { en, sv } = manifest.scripts;
  return {
    scripts: { en: ofSite(en), sv: ofSite(sv) },
    stylesheet: BUILD_PATH + manifest.stylesheet,
    devScript: dev ? BUILD_PATH + manifest.devScript : null,
  };
}

/** The program that bundles. */
export function builder(): string {
  const { os, arch } = Deno.build;
  const platform = `${os === "windows" ? "win32" : os}-${arch === "aarch64" ? "arm64" : "x64"}`;
  const version = project.imports.esbuild.split("@").at(-1);
  const name = `@esbuild+${platform}@${version}/node_modules/@esbuild/${platform}/bin/esbuild`;
  return `${PROJECT_FOLDER}/node_modules/.deno/${name}`;
}

/** What the last build left; null where there was none. */
export function readManifest(root: string): Manifest | null {
  try {
    const manifest: Manifest = JSON.parse(Deno.readTextFileSync(`${buildFolder(root)}/${MANIFEST}`));
    const isWhole = LANGUAGES.every((language) => manifest.scripts[language].list.script !== undefined);
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
