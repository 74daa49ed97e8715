import { contentDisposition, fileNameOf } from "@/lib/http/header_values.ts";
import { hasDotSegment, type RawTarget, UNFRAMED_POLICY } from "@/lib/http/request_context.ts";

/** Where pages of the browser reach the gateway's operations. */
export const STORAGE_API_PATH = "/storage/api/";

/** Operations of objects and buckets, and the audit trail; those that would show keys or tokens, or manage accounts, are left out. */
const OPEN_ROOTS: ReadonlySet<string> = new Set(["audit", "buckets", "presign"]);
const PLACEHOLDER = /^:(bucket|key|task_id)$/;
const WORD = /^[a-z][a-z0-9_-]*$/;
/** Parameters of the proxy itself. */
const OWN = ["account", "as", "bucket", "key", "task_id"];
/** Tasks on objects, whose ids follow, and those on a bucket beside them. */
const OBJECT_TASKS: ReadonlySet<string> = new Set(["delete-task", "download", "s3_stats"]);
const TASKS: ReadonlySet<string> = new Set([...OBJECT_TASKS, "fixity", "transfer"]);
/** Words that may follow `objects` beside a key; any other would be read as the key of an object. */
const OBJECT_WORDS: ReadonlySet<string> = new Set([...OBJECT_TASKS, ":key", "delete", "folder", "presign"]);

/**
 * The gateway's target for an address of the proxy; null for an operation that pages may not call.
 *
 * The path of the address is that of the operation below `/api/v1` with its placeholders, such as
 * `/storage/api/buckets/:bucket/objects/:key`, and the query holds their values. Browsers change paths that hold `.`,
 * `..` and empty segments, but no query, so that every key arrives as it is.
 */
export function gatewayTarget({ path, query }: RawTarget): RawTarget | null {
  const parameters = new URLSearchParams(query);
  const segments = path.slice(STORAGE_API_PATH.length).split("/");
  if (!OPEN_ROOTS.has(segments[0]) || (segments.length > 1 && segments[1] !== ":bucket")) return null;
  const written: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const before = segments[index - 1];
    if (before === "objects" && !OBJECT_WORDS.has(segment)) return null;
    if (segment === ":task_id" && !TASKS.has(before)) return null;
    const name = PLACEHOLDER.exec(segment)?.[1];
    const value = name === undefined ? segment : parameters.get(name);
    if (value === null || value === "" || (name === undefined && !WORD.test(segment))) return null;
    // A bucket's name and the id of a task are segments of their own, which dots would remove.
    if (name !== "key" && hasDotSegment(`/${value}`)) return null;
    written.push(encodeURIComponent(value));
  }
  for (const name of OWN) parameters.delete(name);
  // A key may end in a word that is reserved in paths.
  if (path.endsWith("/objects/:key")) parameters.set("as", "object");
  return { path: `/api/v1/${written.join("/")}`, query: parameters.toString() };
}

/**
 * The policy of a PDF that is shown. Browsers open none in a sandbox; with this type they give the bytes to their viewer,
 * whose scripts are apart from this origin.
 */
const PDF_POLICY = `script-src 'none'; base-uri 'none'; form-action 'none'; ${UNFRAMED_POLICY}`;
/** Types that a browser shows without running anything in them; all others are saved. */
const SHOWN_TYPES =
  /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|(?:audio|video)\/[\w.+-]+|text\/plain|application\/pdf)$/;
/** Browsers take the last type of a list, so that a value with a comma has no single type. */
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
