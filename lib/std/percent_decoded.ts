/** Text with its percent-encoding decoded once; null where that is malformed or not UTF-8. */
export function percentDecoded(text: string): string | null {
  // Most text has none, and decoding copies it character by character.
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
