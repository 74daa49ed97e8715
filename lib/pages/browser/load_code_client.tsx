import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { lazyCode } from "./lazy_code_client.ts";
import { SCRIPT_FAILURE } from "@/lib/pages/frame_sentences.ts";

/** Whether the server has a newer release than this page, so that further scripts of this release no longer exist. */
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

/** The name of a script contains a digest of it and of its imports, so the page's script exists as long as its release. */
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

/**
 * A component whose code is loaded when it is first rendered; until then it is empty. After a failure it shows a sentence, and
 * retries when the network is back or when it is rendered in another place.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const lazy = lazyCode(() => loadCode(load));
  return function LazyComponent(props) {
    const Component = lazy.code.value;
    const isLoaded = Component !== null && Component !== "failed";
    useEffect(() => {
      if (isLoaded) return;
      lazy.load();
      addEventListener("online", lazy.load);
      return () => removeEventListener("online", lazy.load);
    }, [isLoaded]);
    if (isLoaded) return <Component {...props} />;
    // A page that is outdated says so by itself.
    return Component === "failed" && !isOutdated.value ? <Failure /> : null;
  };
}

/** Most browsers do not load a script again before a reload. */
function Failure() {
  return (
    <div class="notice bad" role="alert">
      <p>{SCRIPT_FAILURE.sentence}</p>
      <button class="btn" type="button" onClick={() => location.reload()}>{SCRIPT_FAILURE.tryAgain}</button>
    </div>
  );
}
