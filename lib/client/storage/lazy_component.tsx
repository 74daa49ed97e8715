import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";

import { SCRIPT_FAILURE } from "@/lib/presentation/script_failure.ts";
import { loadCode, OutdatedPage } from "./load_code.ts";

/**
 * A component whose code is loaded once it is drawn. Until then it is empty; where its code could not be loaded it says
 * so, and tries again once the network is back or it is drawn anew.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | null>(null);
  const hasFailed = signal(false);
  let isLoading = false;
  const begin = () => {
    if (isLoading) return;
    isLoading = true;
    loadCode(load).then((component) => loaded.value = component, (error) => {
      // A page that is outdated says so by itself.
      hasFailed.value = !(error instanceof OutdatedPage);
    }).finally(() => isLoading = false);
  };
  return function LazyComponent(props) {
    const Component = loaded.value;
    useEffect(() => {
      if (Component) return;
      begin();
      addEventListener("online", begin);
      return () => removeEventListener("online", begin);
    }, [Component]);
    if (Component) return <Component {...props} />;
    return hasFailed.value ? <Failure /> : null;
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
