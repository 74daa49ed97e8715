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

/** Gives the stop of a list to an entry; null: it stays where it is. */
export function moveStop({ list, entries }: RovingList, entry: HTMLElement | null): void {
  if (entry === null) return;
  list.querySelectorAll<HTMLElement>(`${entries}[tabindex="0"]`).forEach((other) => other.tabIndex = -1);
  entry.tabIndex = 0;
}

/**
 * Gives the stop of a list to its first entry whenever no entry has it: entries may come and go while the page is read.
 *
 * @param shown selector of the entries that can be seen; the stop never stays at another one
 * @returns a function that ends that
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
 * Moves the focus from an entry by an arrow, Home or End. A key that does something here does nothing else on the page.
 *
 * @param entry the one that the key was pressed in; null: none
 * @param otherKey handles further keys and returns whether a key does anything
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
 * where the entry is removed as well, or to another element. Without that a reader with a keyboard is back at the top of
 * the page.
 *
 * @param root whose controls come and go
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
  // A control that goes loses the focus as well: only one that is still there has been left by the reader.
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
