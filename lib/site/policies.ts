import { createHash } from "node:crypto";
import { UNFRAMED_POLICY } from "@/lib/http/request_context.ts";
import { HEIGHTS_KEY, INTRODUCED_KEY, THEME_KEY } from "@/lib/pages/stored_names.ts";
import { withoutTrailingSlash } from "@/lib/std/text.ts";

/**
 * The one inline script of every page. It runs before anything is painted: the reader's stored theme, a mark that scripts
 * run, by which styles show or hide what needs them, a mark that the introduction was closed, and the space of the cards
 * that are about to be opened again. The rules are added through the object model, which the policy of styles allows.
 */
export const THEME_SCRIPT = `{const h=document.documentElement,s=k=>localStorage.getItem(k);h.dataset.scripts="";` +
  `try{const t=s("${THEME_KEY}");if(t==="light"||t==="dark")h.dataset.theme=t;` +
  `if(s("${INTRODUCED_KEY}"))h.dataset.introduced="";` +
  `const r=JSON.parse(s("${HEIGHTS_KEY}"));if(r&&r.width===innerWidth){const c=new CSSStyleSheet;` +
  `for(const k in r.heights)c.insertRule('.place[data-key="'+CSS.escape(k)+'"]{min-height:'+(r.heights[k]|0)+'px}');` +
  `document.adoptedStyleSheets=[c]}}catch{}}`;

/** The policy source that allows exactly this script (CSP Level 3, hash sources). */
const THEME_SCRIPT_SOURCE = `'sha256-${createHash("sha256").update(THEME_SCRIPT).digest("base64")}'`;

/** The policy in the head of our own pages: scripts from here and the theme script, styles from here, no objects. */
export const PAGE_META_POLICY =
  `script-src 'self' ${THEME_SCRIPT_SOURCE}; style-src 'self'; object-src 'none'; base-uri 'self'`;

/**
 * The policy header of our own pages: they fetch only from the API and from the results URL. Where that URL is none, or
 * cannot be written as a policy source, the connections are left alone (spec, Response headers).
 *
 * @param resultsUrl base of result URLs, "" in a site without a cluster
 */
export function pagePolicy(resultsUrl: string): string {
  const source = policySource(resultsUrl);
  return source === null ? UNFRAMED_POLICY : `${UNFRAMED_POLICY}; connect-src 'self' ${source}`;
}

/** A base URL as a policy source, with its trailing slash (CSP Level 3, host-source); null when it cannot be one. */
export function policySource(base: string): string | null {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(base)?.[1];
  const url = URL.parse(base);
  if (authority === undefined || !url || url.username || url.password) return null;
  if (!/^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?::\d+)?$/.test(authority)) return null;
  const path = withoutTrailingSlash(url.pathname).replaceAll(";", "%3B").replaceAll(",", "%2C");
  return `${url.origin}${path}/`;
}

/**
 * The policy header of the storage pages, beside the one in their head: they fetch from this origin and from the S3
 * endpoint of their login, where uploads go, and show images, sound and film of this origin.
 *
 * @param endpoint the S3 endpoint as a policy source; null where there is none that can be written as one
 */
export function storagePolicy(endpoint: string | null): string {
  const connect = endpoint === null ? "'self'" : `'self' ${endpoint}`;
  return [
    UNFRAMED_POLICY,
    `connect-src ${connect}`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "frame-src 'none'",
    "worker-src 'self'",
    "form-action 'self'",
  ].join("; ");
}

/** Largest viewer page whose scripts are looked for, in bytes; a larger one is a document like any other. */
export const MAX_VIEWER_BYTES = 512 * 1024;

/**
 * The policy of a manifest viewer's page, chosen by the page itself (spec, Response headers): its own inline scripts by
 * their hashes, inline styles, and images and manifests from anywhere.
 */
export function viewerPolicy(html: string): string {
  const hashes = inlineScripts(html).map((script) =>
    ` 'sha256-${createHash("sha256").update(script).digest("base64")}'`
  );
  return `default-src 'self'; script-src 'self'${[...new Set(hashes)].join("")}; style-src 'self' 'unsafe-inline'; ` +
    "object-src 'none'; img-src * data: blob:; connect-src *; worker-src 'self' blob:; form-action 'self'; " +
    `base-uri 'none'; ${UNFRAMED_POLICY}`;
}

/**
 * The texts of the scripts without `src`, as a browser takes them (HTML standard, tokenization): comments hold none, a
 * script ends at `</script` before a space, a slash or `>`, and line ends are line feeds.
 */
export function inlineScripts(html: string): string[] {
  const text = html.replace(/\r\n?/g, "\n");
  const scripts: string[] = [];
  MARK.lastIndex = 0;
  for (let mark = MARK.exec(text); mark; mark = MARK.exec(text)) {
    if (mark[0] === "<!--") {
      const end = text.indexOf("-->", MARK.lastIndex);
      if (end < 0) break;
      MARK.lastIndex = end + "-->".length;
      continue;
    }
    END.lastIndex = MARK.lastIndex;
    const end = END.exec(text);
    if (!end) break;
    if (!SOURCE.test(mark[1])) scripts.push(text.slice(MARK.lastIndex, end.index));
    MARK.lastIndex = END.lastIndex;
  }
  return scripts;
}

/** The start of a comment, or a script's start tag with its attributes; a quoted value may hold `>`. */
const MARK = /<!--|<script((?:[\s/](?:"[^"]*"|'[^']*'|[^'">])*)?)>/gi;
const END = /<\/script(?=[\s/>])/gi;
/** An attribute `src`, not one in the value of another. */
const SOURCE = /^(?:[^"']|"[^"]*"|'[^']*')*?[\s/"']src(?=[\s=/]|$)/i;

/**
 * Whether an HTML document has a policy in its head, as our app pages do. The text is walked as a browser
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

/** White space, a comment, a doctype, or a tag with its quoted attributes; the body starts with anything else. */
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
