import { signal } from "@preact/signals";

/** A choice of the reader that outlasts the page. */
export interface RememberedChoice {
  readonly value: boolean;
  /** Reads the stored choice: once, after the page's server-rendered state was taken over. */
  recall(): void;
  toggle(): void;
}

/** A part of the manifest viewer that a reader switches on and off. It is on at first. */
export function remembered(name: "thumbnails" | "text" | "keys"): RememberedChoice {
  const key = `stackroom.viewer.${name}`;
  const state = signal(true);
  return {
    get value() {
      return state.value;
    },
    recall() {
      try {
        state.value = localStorage.getItem(key) !== "off";
      } catch {
        // Without a memory the choice is as at first.
      }
    },
    toggle() {
      state.value = !state.value;
      try {
        if (state.value) localStorage.removeItem(key);
        else localStorage.setItem(key, "off");
      } catch {
        // The choice holds for as long as the page is open.
      }
    },
  };
}
