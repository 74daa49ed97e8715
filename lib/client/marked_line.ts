/**
 * Shows the line of a log that an address' fragment names: what it lies in is opened, and it alone is marked.
 *
 * @param hash `#L12`
 * @returns whether there is such a line
 */
export function markLine(hash: string): boolean {
  const line = /^#L\d+$/.test(hash) ? document.getElementById(hash.slice(1)) : null;
  if (!line) return false;
  for (const other of document.querySelectorAll(".line.marked")) other.classList.remove("marked");
  line.classList.add("marked");
  for (let fold = line.closest("details"); fold; fold = fold.parentElement?.closest("details") ?? null) {
    fold.open = true;
  }
  line.scrollIntoView({ block: "center" });
  return true;
}
