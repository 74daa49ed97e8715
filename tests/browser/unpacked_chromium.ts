import { createReadStream, createWriteStream } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createBrotliDecompress } from "node:zlib";

/** A browser to start: its program, and variables that it needs beside the process's own. */
export interface BrowserProgram {
  readonly executable: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The Chromium inside the npm package `@sparticuz/chromium`, unpacked once per version into the user's cache folder,
 * with its own copies of the libraries and fonts that a bare system lacks.
 *
 * The package's own unpacking is not used: it goes straight to fixed names in the temporary folder, so that a killed
 * run leaves half a browser behind, and it brings its libraries to light on one cloud's machines only.
 *
 * @throws {Error} where the package has no program for this system, or cannot be unpacked.
 */
export async function unpackedChromium(): Promise<BrowserProgram> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    throw new Error(`it holds a program for Linux on x86_64, not for ${Deno.build.os} on ${Deno.build.arch}`);
  }
  const packageFolder = fileURLToPath(new URL("../../", import.meta.resolve("@sparticuz/chromium")));
  const { version } = JSON.parse(await Deno.readTextFile(join(packageFolder, "package.json")));
  const cache = join(cacheFolder(), "stackroom");
  const folder = join(cache, `chromium-${version}`);
  if (!exists(folder)) await unpack(join(packageFolder, "bin"), cache, folder);
  return { executable: join(folder, "chromium"), env: await environment(folder) };
}

/** Unpacks beside the final folder and renames, so that the folder is there as a whole or not at all. */
async function unpack(source: string, cache: string, folder: string): Promise<void> {
  await Deno.mkdir(cache, { recursive: true });
  const staging = await Deno.makeTempDir({ dir: cache, prefix: "unpacking-" });
  try {
    await pipeline(
      createReadStream(join(source, "chromium.br")),
      createBrotliDecompress(),
      createWriteStream(join(staging, "chromium"), { mode: 0o700 }),
    );
    for (const archive of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"]) {
      await extract(join(source, archive), staging);
    }
    await Deno.writeTextFile(join(staging, "fonts.conf"), fontConfiguration(folder));
    await Deno.rename(staging, folder);
  } catch (error) {
    await Deno.remove(staging, { recursive: true });
    // Another run was faster: its folder is as good.
    if (!exists(folder)) throw error;
  }
}

async function extract(archive: string, folder: string): Promise<void> {
  const tar = new Deno.Command("tar", {
    args: ["-xf", "-", "--no-same-owner", "-C", folder],
    stdin: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(tar.stderr).text();
  await pipeline(createReadStream(archive), createBrotliDecompress(), Writable.fromWeb(tar.stdin));
  const { success } = await tar.status;
  if (!success) throw new Error(`tar could not unpack ${archive}: ${(await errors).trim()}`);
}

/** The package's fonts beside the system's, and its libraries only where the system lacks them. */
async function environment(folder: string): Promise<Record<string, string>> {
  const env: Record<string, string> = { FONTCONFIG_FILE: join(folder, "fonts.conf") };
  if (await lacksLibraries(join(folder, "chromium"))) {
    env.LD_LIBRARY_PATH = [join(folder, "lib"), Deno.env.get("LD_LIBRARY_PATH")].filter(Boolean).join(":");
  }
  return env;
}

/** The package's own file names the folders of one cloud's machines. */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${folder}/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
}

async function lacksLibraries(program: string): Promise<boolean> {
  const { stdout } = await new Deno.Command("ldd", { args: [program], stderr: "null" }).output();
  return new TextDecoder().decode(stdout).includes("not found");
}

function cacheFolder(): string {
  const home = Deno.env.get("HOME");
  return Deno.env.get("XDG_CACHE_HOME") || (home ? join(home, ".cache") : tmpdir());
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
