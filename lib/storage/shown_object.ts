import { UNFRAMED_POLICY } from "@/lib/http/default_headers.ts";
import { contentDisposition, fileNameOf } from "@/lib/http/header_values.ts";

/**
 * The policy of a PDF that is shown. Browsers open none in a sandbox; with this type they give the bytes to their viewer,
 * whose scripts are apart from this origin.
 */
const PDF_POLICY = `script-src 'none'; base-uri 'none'; form-action 'none'; ${UNFRAMED_POLICY}`;
/** Types that a browser shows without running anything in them; all others are saved. */
const SHOWN_TYPES =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|(?:audio|video)\/[\w.+-]+|text\/plain|application\/pdf)$/;
/** Of a list of types browsers take the last one, so that a value with a comma has no single type. */
const MEDIA_TYPE = /^([\w.+-]+\/[\w.+-]+)[ \t]*(?:;[^,]*)?$/;
/** A browser ignores a disposition type that is not a token, and shows the object. */
const ATTACHMENT = /^attachment[ \t]*(?:;|$)/i;
const INLINE = /^inline[ \t]*(?:;|$)/i;

/** The type and subtype of a Content-Type, lowercase; null where it is not exactly one type. */
export function mediaTypeOf(value: string | null): string | null {
  return MEDIA_TYPE.exec(value ?? "")?.[1].toLowerCase() ?? null;
}

/**
 * Changes the headers of an object for a browser that may show it on this origin. An object may be anything: what could
 * run is saved under the sandbox of its headers, whatever the address asks for. What is shown has exactly the type that
 * was recognized.
 */
export function sandboxObject(headers: Headers, key: string): void {
  const disposition = headers.get("Content-Disposition") ?? "";
  const type = mediaTypeOf(headers.get("Content-Type"));
  if (type === null || !SHOWN_TYPES.test(type) || !INLINE.test(disposition)) {
    if (ATTACHMENT.test(disposition)) return;
    headers.set("Content-Disposition", contentDisposition("attachment", fileNameOf(key)));
    return;
  }
  headers.set("Content-Type", type === "text/plain" ? "text/plain; charset=utf-8" : type);
  if (type === "application/pdf") headers.set("Content-Security-Policy", PDF_POLICY);
}
