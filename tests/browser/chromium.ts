import { type Browser, chromium } from "playwright-core";

import { type BrowserProgram, unpackedChromium } from "./unpacked_chromium.ts";

/** Names of Chromium and its kin on PATH, in order of preference. */
const SYSTEM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts a headless Chromium and prints which: the one that `CHROMIUM` names, else the system's, else the npm package's.
 *
 * @throws {Error} saying what to install where there is none, or where the one that `CHROMIUM` names is not there.
 */
export async function launch(): Promise<Browser> {
  const { executable, env } = await findBrowser(Deno.env.toObject());
  const browser = await chromium.launch({
    executablePath: executable,
    args: FLAGS,
    // Without a locale of UTF-8 the browser cannot open files whose names are not ASCII.
    env: { ...Deno.env.toObject(), ...env, LC_ALL: "C.UTF-8" },
    // The flags above are the whole choice: Playwright's own would ask for its bundled build.
    headless: true,
  });
  console.log(`browser: Chromium ${browser.version()}, ${executable}`);
  return browser;
}

/** Where the browser of {@linkcode launch} is found, given these environment variables. */
export async function findBrowser(
  env: Readonly<Record<string, string>>,
  unpack: () => Promise<BrowserProgram> = unpackedChromium,
): Promise<BrowserProgram> {
  if (env.CHROMIUM) {
    if (isFile(env.CHROMIUM)) return { executable: env.CHROMIUM, env: {} };
    throw new Error(`CHROMIUM names ${env.CHROMIUM}, which is not a file: correct it or unset it`);
  }
  const onPath = (env.PATH ?? "").split(":").flatMap((folder) => SYSTEM_NAMES.map((name) => ({ folder, name })));
  for (const { folder, name } of onPath) {
    const executable = `${folder}/${name}`;
    if (folder && isFile(executable)) return { executable, env: {} };
  }
  try {
    return await unpack();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `no browser for the browser tests: install Chromium (Debian: apt-get install chromium), ` +
        `or name one in the variable CHROMIUM; the npm package does not serve here: ${reason}`,
      { cause },
    );
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
