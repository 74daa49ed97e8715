/**
 * Whether an HTML document carries a policy of its own in its head, as our app pages do. The text is walked as a browser
 * would, so that a policy in a comment, in a script or in the body does not count.
 */
export function hasHeadPolicy(html: string): boolean {
  let at = html.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < html.length) {
    NEXT.lastIndex = at;
    const token = NEXT.exec(html);
    if (!token) return false;
    at = NEXT.lastIndex;
    const [whole, slash, tag] = token;
    if (tag === undefined) continue;
    const name = tag.toLowerCase();
    if (slash ? name === "head" : !HEAD_ELEMENTS.has(name)) return false;
    if (slash) continue;
    if (name === "meta" && isPolicy(whole)) return true;
    if (RAW_TEXT.has(name)) {
      const end = new RegExp(`</${name}[\\s/>]`, "gi");
      end.lastIndex = at;
      if (!end.exec(html)) return false;
      at = html.indexOf(">", end.lastIndex - 1) + 1;
      if (at === 0) return false;
    }
  }
  return false;
}

/** White space, a comment, a doctype, or a tag with its quoted attributes; anything else begins the body. */
const NEXT = /\s+|<!--(?:>|->|[^]*?--!?>)|<![^>]*>|<(\/?)([a-z][^\s/>]*)(?:"[^"]*"|'[^']*'|[^>"'])*>/iy;
const HEAD_ELEMENTS: ReadonlySet<string> = new Set([
  "html",
  "head",
  "meta",
  "title",
  "link",
  "base",
  "script",
  "style",
]);
const RAW_TEXT: ReadonlySet<string> = new Set(["title", "script", "style"]);

function isPolicy(tag: string): boolean {
  return /\shttp-equiv\s*=\s*(["']?)content-security-policy\1[\s/>]/i.test(tag) && /\scontent\s*=/i.test(tag);
}
