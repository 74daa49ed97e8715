import { signal } from "@preact/signals";

/**
 * Code that most visits do not need.
 *
 * @returns the code, null until it is loaded and `failed` if loading failed; and a function that loads it at most once at a
 * time, again after a failure
 */
export function lazyCode<Code>(load: () => Promise<Code>) {
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
