import { withoutTrailingSlash } from "@/lib/std/without_trailing_slash.ts";

type Disposition = "attachment" | "inline";

/**
 * A Content-Disposition header (RFC 6266) that names a file: as it is in `filename*`, and in `filename` with what old
 * clients cannot read replaced. Path separators and control characters are no part of a file's name.
 */
export function contentDisposition(disposition: Disposition, filename: string): string {
  const name = filename.toWellFormed().replace(/[/\\\p{Cc}]/gu, "_");
  const plain = name.replace(/[^\x20-\x7e]|["%]/gu, "_");
  return `${disposition}; filename="${plain}"` + (plain === name ? "" : `; filename*=UTF-8''${extended(name)}`);
}

/** The name under which a browser would save an object: the last segment of its key. */
export function fileNameOf(key: string): string {
  return withoutTrailingSlash(key).split("/").at(-1) || "object";
}

/** RFC 8187, section 3.2.1. */
function extended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Text as a header value: whatever a header cannot carry (control characters, all beyond printable ASCII) is
 * percent-encoded as UTF-8. `new Response` throws on such values, and names that come from stores may hold any.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
}
