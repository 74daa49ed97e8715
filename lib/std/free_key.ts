/**
 * A name beside one that is taken: `scan (2).tif`. The number stands before the extension; a leading dot begins none.
 *
 * @param isTaken whether a key is in use
 */
export function freeKey(key: string, isTaken: (key: string) => boolean): string {
  const end = key.slice(stemOf(key).length);
  for (let number = 2;; number++) {
    const free = `${numberedStart(key)}${number})${end}`;
    if (!isTaken(free)) return free;
  }
}

/** The beginning of all names that stand beside a taken one. */
export function numberedStart(key: string): string {
  return `${stemOf(key)} (`;
}

function stemOf(key: string): string {
  const nameAt = key.lastIndexOf("/") + 1;
  const dotAt = key.lastIndexOf(".");
  return key.slice(0, dotAt > nameAt ? dotAt : key.length);
}
