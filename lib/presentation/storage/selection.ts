/** The selected keys, and the one from which a range would go. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly anchor: string | null;
}

export const NOTHING_SELECTED: Selection = { keys: new Set(), anchor: null };

/** Selects a key, or takes it out of the selection. */
export function toggled({ keys }: Selection, key: string): Selection {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/** Adds all keys between the anchor and a key, both included. Without an anchor that is shown, only the key. */
export function extended({ keys, anchor }: Selection, key: string, shown: readonly string[]): Selection {
  const to = shown.indexOf(key);
  const from = anchor === null ? -1 : shown.indexOf(anchor);
  if (to < 0) return { keys, anchor };
  const range = from < 0 ? [key] : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { keys: new Set([...keys, ...range]), anchor: from < 0 ? key : anchor };
}

/** Selects all that is shown, beside what is selected already; where all of it is, none of it. */
export function allToggled({ keys, anchor }: Selection, shown: readonly string[]): Selection {
  const isAll = shown.every((key) => keys.has(key));
  const next = new Set(keys);
  for (const key of shown) {
    if (isAll) next.delete(key);
    else next.add(key);
  }
  return { keys: next, anchor };
}

/** Leaves out keys that are gone. */
export function without({ keys, anchor }: Selection, isThere: (key: string) => boolean): Selection {
  const left = [...keys].filter(isThere);
  return left.length === keys.size ? { keys, anchor } : { keys: new Set(left), anchor };
}
