import { signal } from "@preact/signals";

/** How long a browser stores something: for good, or as long as the tab is open. */
type Span = "local" | "session";

/** The text stored under a key; null: none, or the browser stores nothing. */
export function stored(key: string, span: Span = "local"): string | null {
  try {
    return globalThis[`${span}Storage`].getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text, or with null removes it. @returns whether the browser did so */
export function store(key: string, text: string | null, span: Span = "local"): boolean {
  try {
    const storage = globalThis[`${span}Storage`];
    if (text === null) storage.removeItem(key);
    else storage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** A choice of the reader that outlasts the page. */
export interface RememberedChoice {
  readonly value: boolean;
  /** Reads the stored choice: once, after hydration. */
  recall(): void;
  toggle(): void;
}

/** A part of a page that a reader switches on and off. It is on at first. */
export function remembered(name: "thumbnails" | "text" | "keys"): RememberedChoice {
  const key = `stackroom.viewer.${name}`;
  const state = signal(true);
  return {
    get value() {
      return state.value;
    },
    recall() {
      state.value = stored(key) !== "off";
    },
    toggle() {
      state.value = !state.value;
      store(key, state.value ? null : "off");
    },
  };
}
