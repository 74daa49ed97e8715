/**
 * A list with one stop of the Tab key, through which arrows go: a list may have thousands of entries. Each entry is rendered
 * with a `tabindex`, `0` for the one that has the stop at first.
 */
interface RovingList {
  readonly list: HTMLElement;
  /** Selector of the entries. */
  readonly entries: string;
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
