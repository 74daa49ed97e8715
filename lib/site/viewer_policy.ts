import { UNFRAMED_POLICY } from "@/lib/http/default_headers.ts";
import { createHash } from "node:crypto";

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

/** A comment's beginning, or a script's start tag with its attributes; a quoted value may hold `>`. */
const MARK = /<!--|<script((?:[\s/](?:"[^"]*"|'[^']*'|[^'">])*)?)>/gi;
const END = /<\/script(?=[\s/>])/gi;
/** An attribute `src`, not one in the value of another. */
const SOURCE = /^(?:[^"']|"[^"]*"|'[^']*')*?[\s/"']src(?=[\s=/]|$)/i;
