/** What a reading order moves: a block with the ids of the blocks around it, and its lines. */
interface Ordered<Line> {
  readonly id: string | null;
  readonly around: readonly string[];
  readonly lines: Line[];
}

/**
 * Puts blocks, and lines within each block, into the order in which `references` name them (ALTO 4.3, ReadingOrder). A block
 * stands where it, one of its lines or a block around it is named first; what is not named follows in document order.
 */
export function inReadingOrder<Line extends { readonly id: string | null }, Block extends Ordered<Line>>(
  blocks: readonly Block[],
  references: readonly string[],
): readonly Block[] {
  if (references.length === 0) return blocks;
  const ranks = new Map<string, number>();
  for (const id of references) if (!ranks.has(id)) ranks.set(id, ranks.size);
  const rank = (id: string | null) => (id === null ? undefined : ranks.get(id)) ?? Infinity;
  for (const { lines } of blocks) sortByRank(lines, ({ id }) => rank(id));
  const rankOf = ({ id, around, lines }: Block) => {
    let first = rank(id);
    for (const other of around) first = Math.min(first, rank(other));
    return lines.length > 0 ? Math.min(first, rank(lines[0].id)) : first;
  };
  return sortByRank([...blocks], rankOf);
}

function sortByRank<T>(items: T[], rank: (item: T) => number): T[] {
  const ranks = new Map(items.map((item) => [item, rank(item)]));
  // Not by subtraction: the difference of two infinite ranks is no number.
  return items.sort((a, b) => ranks.get(a)! === ranks.get(b)! ? 0 : ranks.get(a)! < ranks.get(b)! ? -1 : 1);
}
