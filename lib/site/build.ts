import { createHash, randomUUID } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";

import { type Coding, CODINGS } from "@/lib/http/header_values.ts";
import {
  type Assets,
  assetsOf,
  BuildError,
  buildFolder,
  isComplete,
  MANIFEST,
  type Manifest,
  PROJECT_FOLDER,
  readManifest,
} from "./site.ts";
import { CODED_EXTENSIONS } from "./static_file.ts";

/** Folders whose files decide what is built, relative to the project. */
const SOURCE_FOLDERS = [
  "islands",
  "components",
  "locales",
  "lib/campaigns/projection",
  "lib/pages",
  "lib/site",
  "lib/std",
  "routes",
];
/** The packages that are built in. */
const LOCK_FILE = "deno.lock";

interface BuildOptions {
  /** The project's folder. */
  readonly root?: string;
  /** Pages reload when the server starts again. Files are not compressed, which takes most of a build's time. */
  readonly dev?: boolean;
}

/**
 * The site's scripts and stylesheet, built where the sources have changed since the last build.
 *
 * @throws {BuildError}
 */
export async function siteAssets({ root = PROJECT_FOLDER, dev = false }: BuildOptions = {}): Promise<Assets> {
  const sources = readSources(root);
  const hash = hashOf(sources);
  const last = readManifest(root);
  const uncompressed = `${hash} uncompressed`;
  const isCurrent = last?.sources === hash || (dev && last?.sources === uncompressed);
  if (last && isCurrent && isComplete(root, last)) return assetsOf(last, dev);
  const forms = dev ? () => [] : compressedForms;
  return assetsOf(await rebuild(root, sources, { sources: dev ? uncompressed : hash, forms, last }), dev);
}

type Sources = ReadonlyMap<string, string>;

interface BuiltFile {
  readonly name: string;
  readonly content: Uint8Array;
}

function readSources(root: string): Sources {
  const sources = new Map<string, string>();
  const add = (path: string) => sources.set(path, Deno.readTextFileSync(`${root}/${path}`));
  const walk = (folder: string) => {
    for (const entry of [...Deno.readDirSync(`${root}/${folder}`)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory) walk(path);
      else if (/\.(?:tsx?|css)$/.test(entry.name)) add(path);
    }
  };
  SOURCE_FOLDERS.forEach(walk);
  add(LOCK_FILE);
  return sources;
}

function hashOf(sources: Sources): string {
  const hash = createHash("sha256");
  for (const [path, text] of sources) hash.update(`${path}\0${text.length}\0${text}`);
  return hash.digest("hex");
}

interface Rebuild {
  /** The manifest's name for the sources. */
  readonly sources: string;
  readonly forms: (file: BuiltFile) => BuiltFile[];
  readonly last: Manifest | null;
}

async function rebuild(root: string, sources: Sources, { sources: name, forms, last }: Rebuild): Promise<Manifest> {
  // Needed only here: a start that finds everything built does not load them.
  const { bundleSite, stop } = await import("./bundle.ts");
  try {
    const pages = [...sources.keys()].filter((path) => path.endsWith(".tsx"));
    const islands = pages.filter((path) => /^islands\/[^/]+$/.test(path)).map((path) => path.slice("islands/".length));
    const bundle = await bundleSite(root, islands, pages.map((path) => sources.get(path) ?? ""));
    const files = bundle.files.flatMap((file) => [file, ...forms(file)]);
    const manifest = { sources: name, assets: bundle.assets, files: files.map(({ name }) => name) };
    write(root, files, manifest);
    clean(root, new Set([...manifest.files, ...last?.files ?? []]));
    return manifest;
  } catch (error) {
    throw buildError(error);
  } finally {
    await stop();
  }
}

/** The compressed forms of a file that are smaller than it. They are written once, so the best compression pays. */
function compressedForms({ name, content }: BuiltFile): BuiltFile[] {
  const forms: Readonly<Record<Coding, Uint8Array>> = {
    br: brotliCompressSync(content),
    gzip: gzipSync(content, { level: 9 }),
  };
  return CODINGS
    .map((coding) => ({ name: `${name}.${CODED_EXTENSIONS[coding]}`, content: forms[coding] }))
    .filter((form) => form.content.length < content.length);
}

/** The manifest comes last and at once, so that a build that breaks off, or two at a time, leave no half of one. */
function write(root: string, files: readonly BuiltFile[], manifest: Manifest): void {
  const folder = buildFolder(root);
  Deno.mkdirSync(folder, { recursive: true });
  for (const { name, content } of files) Deno.writeFileSync(`${folder}/${name}`, content);
  const staging = `${folder}/.${MANIFEST}.${randomUUID()}`;
  Deno.writeTextFileSync(staging, JSON.stringify(manifest, null, 2));
  Deno.renameSync(staging, `${folder}/${MANIFEST}`);
}

/** Removes what neither this build nor the one before it wrote: a page that is open still finds its chunks. */
function clean(root: string, current: ReadonlySet<string>): void {
  const folder = buildFolder(root);
  for (const { name, isFile } of Deno.readDirSync(folder)) {
    if (!isFile || current.has(name) || name.startsWith(".") || name === MANIFEST) continue;
    try {
      Deno.removeSync(`${folder}/${name}`);
    } catch {
      // Another process cleans as well.
    }
  }
}

function buildError(error: unknown): BuildError {
  const reason = error instanceof Error ? error.message : String(error);
  const canWrite = !(error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable);
  const advice = canWrite ? "" : "; build it beforehand with `deno task build`";
  return new BuildError(`The site could not be built: ${reason}${advice}`, { cause: error });
}

if (import.meta.main) {
  if (Deno.args.length > 0) {
    console.error(`Unknown argument '${Deno.args[0]}': deno task build takes none`);
    Deno.exit(2);
  }
  try {
    await siteAssets();
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    Deno.exit(1);
  }
}
