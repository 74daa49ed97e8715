import { signal } from "@preact/signals";

/** Whether the server has a newer release than this page, whose further scripts are gone with the old one. */
export const isOutdated = signal(false);

/** Thrown where code cannot be loaded because the page is older than the server. */
export class OutdatedPage extends Error {
  override readonly name = "OutdatedPage";
}

/**
 * Loads code that most visits do not need.
 *
 * @throws OutdatedPage where the server has a newer release than the page, else what `load` throws
 */
export async function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  try {
    return await load();
  } catch (error) {
    if (!await isOwnScriptGone()) throw error;
    isOutdated.value = true;
    throw new OutdatedPage("the server has a newer release than this page", { cause: error });
  }
}

/** The name of a script has a digest of it and of all that it loads: that of the page goes with its release. */
async function isOwnScriptGone(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"]');
  if (!script) return false;
  try {
    const { status } = await fetch(script.src, { method: "HEAD", cache: "no-store" });
    return status === 404;
  } catch {
    return false;
  }
}
