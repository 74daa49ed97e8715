/**
 * Where a login leads afterwards: a path of our own origin with its query and fragment. Anything else, and the login
 * page itself, becomes `/`.
 */
export function nextPath(asked: string | null): string {
  if (asked === null || asked.length > MAX_NEXT || !isPath(asked)) return "/";
  const url = URL.parse(asked, HERE);
  // The origin alone does not tell a path: that of `blob:http://here.invalid/…` is its inner URL's.
  if (!url || url.protocol !== "http:" || url.origin !== HERE || /^\/login\/?$/.test(url.pathname)) return "/";
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` begins with two slashes, which by itself would name another host.
  return path.startsWith("//") ? "/" : path;
}

/**
 * Whether a text is written as a path: one slash in front, no second one. Backslashes are slashes to browsers, and they
 * drop some control characters, so that what is left could be another address than the one that was judged.
 */
function isPath(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(text);
}

/** Characters of an asked path. */
const MAX_NEXT = 4096;
const HERE = "http://here.invalid";
