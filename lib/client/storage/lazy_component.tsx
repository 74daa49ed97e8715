import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";

import { lazyCode } from "@/lib/client/lazy_code.ts";
import { SCRIPT_FAILURE } from "@/lib/presentation/frame_sentences.ts";
import { isOutdated, loadCode } from "./load_code.ts";

/**
 * A component whose code is loaded when it is first rendered. Until then it is empty. Where its code cannot be loaded it
 * says so, and tries again when the network is back or when it is rendered in another place.
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
