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
