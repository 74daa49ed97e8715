import { withoutTrailingSlash } from "@/lib/std/text.ts";

/** Why a viewer may not open a URL. */
export type RefusedUrl = "not a URL" | "outside the results" | "escaped separator";

/** Whether a viewer may open a URL, and if not, why. */
type GuardedUrl =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly refused: RefusedUrl };

/**
 * Checks a URL that /log or /alto is to open: http(s), under the results base, and without an escaped slash or
 * backslash in its path below the base (spec, Endpoints). The URL is judged as a browser reads it, with dot segments
 * resolved, and `href` is that reading: open it and not the text that came. What a browser corrects in silence is refused:
 * space around a URL, control characters, and a backslash in place of a slash. Without a results base any other http(s) URL
 * passes; one that carries a user name or password never does.
 */
export function guardResultUrl(text: string | null, resultsBase: string): GuardedUrl {
  if (text === null) return { ok: false, refused: "not a URL" };
  const url = URL.parse(text);
  if (!url || !isHttp(url) || isUnclean(text)) return { ok: false, refused: "not a URL" };
  if (url.username || url.password) {
    return { ok: false, refused: "outside the results" };
  }
  const hasBackslash = /^[^?#]*\\/.test(text);
  if (resultsBase === "") {
    return hasBackslash ? { ok: false, refused: "escaped separator" } : { ok: true, href: url.href };
  }
  const base = URL.parse(resultsBase);
  if (!base || !isHttp(base) || url.origin !== base.origin) {
    return { ok: false, refused: "outside the results" };
  }
  const folder = `${withoutTrailingSlash(base.pathname)}/`;
  if (!url.pathname.startsWith(folder)) {
    return { ok: false, refused: "outside the results" };
  }
  if (hasBackslash || /%(?:2f|5c)/i.test(url.pathname.slice(folder.length))) {
    return { ok: false, refused: "escaped separator" };
  }
  return { ok: true, href: url.href };
}

function isHttp(url: URL): boolean {
  return url.protocol === "http:" || url.protocol === "https:";
}

/** Whether there is space around a text, or a control character in it. */
function isUnclean(text: string): boolean {
  return text !== text.trim() || Array.from(text).some((character) => character < " ");
}
