import { fileNameParameters } from "@/lib/std/header_encoding.ts";
import { withoutTrailingSlash } from "@/lib/std/without_trailing_slash.ts";

type Disposition = "attachment" | "inline";

/** A Content-Disposition header (RFC 6266) that names a file, as {@link fileNameParameters} does. */
export function contentDisposition(disposition: Disposition, filename: string): string {
  return disposition + fileNameParameters(filename);
}

/** The name under which a browser would save an object: the last segment of its key. */
export function fileNameOf(key: string): string {
  return withoutTrailingSlash(key).split("/").at(-1) || "object";
}

/**
 * Text as a header value: whatever a header cannot carry (control characters, all beyond printable ASCII) is
 * percent-encoded as UTF-8. `new Response` throws on such values, and names that come from stores may hold any.
 */
export function headerText(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
}
