import { signal } from "@preact/signals";
import { type FunctionComponent, h } from "preact";
import { useEffect } from "preact/hooks";

import { loadCode } from "./load_code.ts";

/** A component whose code is loaded once it is drawn, and where that failed once it is drawn again. Until then it is empty. */
export function lazyComponent<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const loaded = signal<FunctionComponent<Props> | null>(null);
  let isLoading = false;
  return function LazyComponent(props) {
    const Component = loaded.value;
    useEffect(() => {
      if (Component || isLoading) return;
      isLoading = true;
      // A page that is outdated says so by itself.
      loadCode(load).then((component) => loaded.value = component, () => {}).finally(() => isLoading = false);
    });
    return Component && h(Component, props);
  };
}
