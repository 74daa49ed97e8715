/** Bytes that are read between two steps. */
const BYTES_A_STEP = 256 * 1024;
const BACKSLASH = 0x5c;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  [["n", "\n"], ["t", "\t"], ["r", "\r"], ["\\", "\\"], ["'", "'"], ['"', '"']]
    .map(([escape, meant]) => [escape.charCodeAt(0), meant.charCodeAt(0)]),
);

/**
 * The text of a log that was stored as the printed form of a byte string, `b'…\n…'` on one line, as old workers did; any
 * other text as it is.
 */
export function* unwrapInSteps(text: string): Generator<undefined, string, void> {
  if (!/^b['"]/.test(text)) return text;
  const printed = text.trimEnd();
  const isBytes = printed.length > 2 && printed.endsWith(printed[1]) && !printed.includes("\n");
  if (!isBytes) return text;
  const bytes = new TextEncoder().encode(printed.slice(2, -1));
  return new TextDecoder().decode(yield* unescapeInSteps(bytes));
}

/** Undoes the escapes of a printed byte string, in place; an escape of another kind stays as it is. */
function* unescapeInSteps(bytes: Uint8Array): Generator<undefined, Uint8Array, void> {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const meant = bytes[at] === BACKSLASH ? ESCAPES.get(bytes[at + 1]) : undefined;
    const hex = bytes[at] === BACKSLASH && bytes[at + 1] === 0x78 ? hexByte(bytes[at + 2], bytes[at + 3]) : null;
    bytes[length++] = hex ?? meant ?? bytes[at];
    if (hex !== null) at += 3;
    else if (meant !== undefined) at += 1;
    if (length % BYTES_A_STEP === 0) yield;
  }
  return bytes.subarray(0, length);
}

function hexByte(high: number | undefined, low: number | undefined): number | null {
  const digits = String.fromCharCode(high ?? 0, low ?? 0);
  return /^[0-9a-fA-F]{2}$/.test(digits) ? parseInt(digits, 16) : null;
}
