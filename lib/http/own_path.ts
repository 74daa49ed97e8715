/**
 * A path of this origin with its query and fragment, as a browser reads it; null for any other text. For a redirect to what
 * a form or an address names.
 */
export function ownPath(text: string): string | null {
  if (text.length > MAX_CHARACTERS || !isPath(text)) return null;
  const url = URL.parse(text, HERE);
  // The origin alone does not tell a path: that of `blob:http://here.invalid/…` is its inner URL's.
  if (!url || url.protocol !== "http:" || url.origin !== HERE) return null;
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` begins with two slashes, which by itself would name another host.
  return path.startsWith("//") ? null : path;
}

/**
 * Whether a text is a path with exactly one leading slash. Browsers treat backslashes as slashes and drop some control
 * characters, so such a text could become another address than the one that was checked.
 */
function isPath(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(text);
}

/** Longest path. */
const MAX_CHARACTERS = 4096;

const HERE = "http://here.invalid";
