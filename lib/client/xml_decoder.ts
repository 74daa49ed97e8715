/**
 * The decoder of an XML file: by its first bytes, else by what the server says, else by the file's declaration (RFC 7303,
 * section 3), else of UTF-8.
 *
 * @param head the first bytes of the file, at least 1024 where it has so many
 * @param mediaType the `Content-Type` of the response
 * @returns null for an encoding that the browser does not know
 */
export function xmlDecoder(head: Uint8Array, mediaType: string | null): TextDecoder | null {
  const wide = wideEncoding(head);
  if (wide !== null) return new TextDecoder(wide);
  if (startsWith(head, 0xef, 0xbb, 0xbf)) return new TextDecoder();
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,60})/i.exec(mediaType ?? "")?.[1];
  const beginning = new TextDecoder("windows-1252").decode(head);
  const declared = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']{1,60})["']/.exec(beginning)?.[1];
  const decoder = decoderOf(charset ?? declared ?? "utf-8");
  // A name of UTF-16 that could be read byte by byte is wrong.
  return decoder?.encoding.startsWith("utf-16") ? new TextDecoder() : decoder;
}

/** Fewest characters of UTF-16 without a mark that show it. */
const MIN_CERTAIN = 4;

/**
 * The decoder of a text file without a declaration: of UTF-16 where a byte order mark or the zeros beside its letters show
 * it, else of UTF-8.
 *
 * @param head the first bytes of the file
 */
export function textDecoder(head: Uint8Array): TextDecoder {
  return new TextDecoder(wideEncoding(head) ?? encodingByZeros(head) ?? "utf-8");
}

/** UTF-8 has no zeros; most characters of UTF-16 have one, nearly always in the same place. */
function encodingByZeros(head: Uint8Array): "utf-16le" | "utf-16be" | null {
  const zeros = [0, 0];
  head.forEach((byte, at) => byte === 0 && zeros[at % 2]++);
  const [high, low] = zeros;
  if (Math.max(high, low) < Math.max(MIN_CERTAIN, head.length / 4)) return null;
  if (Math.max(high, low) < 8 * Math.min(high, low)) return null;
  return high > low ? "utf-16be" : "utf-16le";
}

/** UTF-16 shows in the byte order mark, or in the zeros of `<?` or `<a`. */
function wideEncoding(head: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (startsWith(head, 0xff, 0xfe) || startsWith(head, 0x3c, 0x00)) return "utf-16le";
  return startsWith(head, 0xfe, 0xff) || startsWith(head, 0x00, 0x3c) ? "utf-16be" : null;
}

function startsWith(bytes: Uint8Array, ...first: readonly number[]): boolean {
  return first.every((byte, at) => bytes[at] === byte);
}

function decoderOf(name: string): TextDecoder | null {
  try {
    return new TextDecoder(name);
  } catch {
    return null;
  }
}
