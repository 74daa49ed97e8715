/**
 * The path to open after a login: a path of this origin with its query and fragment. Anything else, and the login page
 * itself, becomes `/`.
 */
export function nextPath(requested: string | null): string {
  if (requested === null || requested.length > MAX_NEXT || !isPath(requested)) return "/";
  const url = URL.parse(requested, HERE);
  // The origin alone does not tell a path: that of `blob:http://here.invalid/…` is its inner URL's.
  if (!url || url.protocol !== "http:" || url.origin !== HERE || /^\/login\/?$/.test(url.pathname)) return "/";
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` begins with two slashes, which by itself would name another host.
  return path.startsWith("//") ? "/" : path;
}

/**
 * Whether a text is a path with exactly one leading slash. Browsers treat backslashes as slashes and drop some control
 * characters, so such a text could become another address than the one that was checked.
 */
function isPath(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(text);
}

/** Longest requested path, characters. */
const MAX_NEXT = 4096;
const HERE = "http://here.invalid";
