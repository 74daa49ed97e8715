/**
 * A search for one mark in bytes: the index where it first stands, -1 where it does not. Boyer, Moore and Horspool's way,
 * which looks at one byte in as many as the mark is long.
 */
export function byteSearch(mark: Uint8Array): (bytes: Uint8Array) => number {
  const last = mark.length - 1;
  const skips = new Uint8Array(256).fill(Math.min(mark.length, 255));
  for (let i = Math.max(0, last - 254); i < last; i++) skips[mark[i]] = last - i;
  return function search(bytes) {
    for (let at = 0; at + last < bytes.length;) {
      let i = last;
      while (i >= 0 && bytes[at + i] === mark[i]) i--;
      if (i < 0) return at;
      at += skips[bytes[at + last]];
    }
    return -1;
  };
}
