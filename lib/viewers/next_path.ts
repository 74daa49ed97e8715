/**
 * Where a login leads afterwards: a path of our own origin with its query and fragment. Anything else, and the login
 * page itself, becomes `/`.
 */
export function nextPath(asked: string | null): string {
  const url = asked === null || asked.length > MAX_NEXT ? null : URL.parse(asked, HERE);
  if (!url || url.origin !== HERE || /^\/login\/?$/.test(url.pathname)) return "/";
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` begins with two slashes, which by itself would name another host.
  return path.startsWith("//") ? "/" : path;
}

/** Characters of an asked path. */
const MAX_NEXT = 4096;
const HERE = "http://here.invalid";
