/**
 * Text as a header value: whatever a header cannot carry (control characters, all beyond printable ASCII) is
 * percent-encoded as UTF-8. `new Response` throws on such values, and names that come from stores may hold any.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
}
