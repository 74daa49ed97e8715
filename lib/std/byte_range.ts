/** One range of bytes, both ends inclusive. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The part of a body of `size` bytes that a Range header selects (RFC 9110, section 14.2): null for the whole body,
 * also where the header is of another unit, malformed or has several ranges, which a server may ignore;
 * `"unsatisfiable"` when it selects bytes past the end.
 */
export function parseByteRange(header: string | null, size: number): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return null;
  if (match[1] === "") {
    const length = Number(match[2]);
    if (length === 0 || size === 0) return "unsatisfiable";
    return { first: Math.max(0, size - length), last: size - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Number(match[2]);
  if (match[2] !== "" && last < first) return null;
  return first >= size ? "unsatisfiable" : { first, last: Math.min(last, size - 1) };
}
