import { createHash } from "node:crypto";
import { UNFRAMED_POLICY } from "@/lib/http/default_headers.ts";
import { HEIGHTS_KEY, INTRODUCED_KEY, THEME_KEY } from "@/lib/presentation/browser_memory.ts";
import { withoutTrailingSlash } from "@/lib/std/without_trailing_slash.ts";

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
