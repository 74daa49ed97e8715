import { type ReadonlySignal, signal } from "@preact/signals";

/** Code that most visits do not need. */
interface LazyCode<Code> {
  /** Null until it is loaded, `failed` where it could not be. */
  readonly code: ReadonlySignal<Code | "failed" | null>;
  /** Loads it, unless it is loaded or on its way; after a failure it tries again. */
  readonly load: () => void;
}

/** Code that is loaded at most once at a time. `load` fails where it cannot be loaded. */
export function lazyCode<Code>(load: () => Promise<Code>): LazyCode<Code> {
  const code = signal<Code | "failed" | null>(null);
  let isLoading = false;
  return {
    code,
    load() {
      // Not `value`: an effect that loads the code would run again when it is there.
      const loaded = code.peek();
      if (isLoading || (loaded !== null && loaded !== "failed")) return;
      isLoading = true;
      load().then((found) => code.value = found, () => code.value = "failed").finally(() => isLoading = false);
    },
  };
}
