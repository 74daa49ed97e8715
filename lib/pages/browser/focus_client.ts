/** Whether a key press goes into a field, where a character is text and no shortcut. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement &&
    target.matches("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
}

/**
 * A list with one stop of the Tab key, through which arrows go: a list may have thousands of entries. Each entry is rendered
 * with a `tabindex`, `0` for the one that has the stop at first.
 */
interface RovingList {
  readonly list: HTMLElement;
  /** Selector of the entries. */
  readonly entries: string;
}

/** Handles a click on a link by scripts, unless it opens a new tab or window. */
export function onPlainClick(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act();
  };
}

/** Makes an entry the Tab stop of its list; null changes nothing. */
export function moveStop({ list, entries }: RovingList, entry: HTMLElement | null): void {
  if (entry === null) return;
  list.querySelectorAll<HTMLElement>(`${entries}[tabindex="0"]`).forEach((other) => other.tabIndex = -1);
  entry.tabIndex = 0;
}

/**
 * Makes the first entry of a list the Tab stop whenever no entry is: entries may come and go.
 *
 * @param shown selector of the visible entries; only they can be the Tab stop
 * @returns a function that stops watching
 */
export function watchStop({ list, entries }: RovingList, shown: string): () => void {
  const mend = () => {
    if (!list.querySelector(`${shown}[tabindex="0"]`)) moveStop({ list, entries }, list.querySelector(shown));
  };
  const observer = new MutationObserver(mend);
  observer.observe(list, { childList: true, subtree: true, attributes: true, attributeFilter: ["open"] });
  mend();
  return () => observer.disconnect();
}

/**
 * Moves the focus from an entry by an arrow, Home or End, and stops the propagation of keys that it handles.
 *
 * @param entry the focused entry; null: none
 * @param otherKey handles further keys and returns whether it did
 */
export function goByKey(
  event: KeyboardEvent,
  { list, entries }: RovingList,
  entry: HTMLElement | null,
  otherKey: (key: string) => boolean = () => false,
): void {
  const { key } = event;
  if (entry === null || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (key === "ArrowDown" || key === "ArrowUp" || key === "Home" || key === "End") {
    const all = [...list.querySelectorAll<HTMLElement>(entries)];
    const next = all.indexOf(entry) + (key === "ArrowDown" ? 1 : -1);
    (key === "Home" ? all[0] : key === "End" ? all.at(-1) : all[next])?.focus();
  } else if (!otherKey(key)) return;
  event.preventDefault();
  event.stopPropagation();
}

/** Controls that can take the focus. */
const CONTROLS = "button:not(:disabled), a[href], summary, input:not([hidden])";

/**
 * Moves the focus when the control that has it is removed: to the first control of its entry, of the entry in its place
 * if the entry is removed as well, or to another element. Otherwise the browser would move it to the top of the page.
 *
 * @param root contains the controls
 * @param entries selector of the entries of its lists
 * @param otherwise where no entry is left
 * @returns a function that ends that
 */
export function keepFocus(root: HTMLElement, entries: string, otherwise: () => HTMLElement | null): () => void {
  let last: {
    readonly control: Element;
    readonly entry: Element | null;
    readonly list: Element | null;
    readonly index: number;
  } | null = null;
  const follow = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    const entry = target.closest(entries);
    const list = entry?.parentElement ?? null;
    last = { control: target, entry, list, index: entry && list ? [...list.children].indexOf(entry) : 0 };
  };
  // A removed control loses the focus too: only if it is still in the document did the reader leave it.
  const left = ({ target }: FocusEvent) =>
    queueMicrotask(() => {
      if (last?.control === target && last?.control.isConnected) last = null;
    });
  const observer = new MutationObserver(() => {
    if (!last || last.control.isConnected || document.activeElement !== document.body) return;
    const { list, index } = last;
    const rest = list?.isConnected ? [...list.children] : [];
    const entry = last.entry?.isConnected ? last.entry : rest[Math.min(index, rest.length - 1)];
    last = null;
    (entry?.querySelector<HTMLElement>(CONTROLS) ?? otherwise())?.focus();
  });
  root.addEventListener("focusin", follow);
  root.addEventListener("focusout", left);
  observer.observe(root, { childList: true, subtree: true });
  return () => {
    root.removeEventListener("focusin", follow);
    root.removeEventListener("focusout", left);
    observer.disconnect();
  };
}
