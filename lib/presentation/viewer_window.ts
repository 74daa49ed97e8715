/** Entries of a long list, from `first` to before `end`. */
interface ListWindow {
  readonly first: number;
  readonly end: number;
}

/** Entries that are rendered beyond the visible ones, on either side. */
const BEYOND = 2;

/**
 * The entries of a list that a scrolled box shows, with a few beyond.
 *
 * @param scrolled px from the list's beginning to the box's
 * @param visible px of the box
 * @param entry px of one entry
 */
export function listWindow(count: number, scrolled: number, visible: number, entry: number): ListWindow {
  const first = Math.max(0, Math.min(count - 1, Math.floor(scrolled / entry)) - BEYOND);
  return { first, end: Math.min(count, Math.ceil((scrolled + visible) / entry) + BEYOND) };
}

/** px to scroll to so that an entry is in the middle of the box, as far as the list reaches. */
export function scrollToMiddle(index: number, count: number, visible: number, entry: number): number {
  return Math.max(0, Math.min(count * entry - visible, index * entry - (visible - entry) / 2));
}
