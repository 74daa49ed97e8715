/**
 * Compares two texts by code point: below zero when `a` comes first. `<` compares UTF-16 units, which puts U+1F600
 * before U+FB01 and so disagrees with the order of UTF-8 bytes.
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    const leftHigh = isSurrogate(left);
    if (leftHigh !== isSurrogate(right)) return leftHigh ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
