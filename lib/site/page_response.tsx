import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { compressibleResponse } from "@/lib/http/compressible.ts";
import { currentLanguage } from "@/lib/pages/locale/language.ts";
import { favicon, pageTitle } from "@/lib/pages/page_sentences.ts";
import { languageHeaders } from "./page_language.ts";
import { PAGE_META_POLICY, pagePolicy, THEME_SCRIPT } from "./policies.ts";
import type { Assets } from "./site.ts";

/** The parts of a page that differ. */
interface Page {
  /** Stands before the product's name. */
  readonly title: string;
  /** Campaigns in trouble, shown by the title and the icon. */
  readonly troubled?: number;
  /** Whether it is the list of campaigns, which has a script of its own. */
  readonly isList?: boolean;
  readonly body: ComponentChildren;
}

/** A whole page as HTML text: head with policy, theme, styles and scripts, then the body. */
function renderDocument({ title, troubled = 0, isList = false, body }: Page, assets: Assets): string {
  const language = currentLanguage();
  const site = assets.scripts[language];
  const { script, preload } = isList ? site.list : site;
  return "<!doctype html>" + renderToString(
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={PAGE_META_POLICY} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{pageTitle(title, troubled)}</title>
        <script dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
        <link rel="icon" href={favicon(troubled)} />
        <link rel="stylesheet" href={assets.stylesheet} />
        {preload.map((href) => <link key={href} rel="modulepreload" href={href} />)}
        <script src="/config.js" defer />
        <script type="module" src={script} />
        {assets.devScript && <script type="module" src={assets.devScript} />}
      </head>
      <body>{body}</body>
    </html>,
  );
}

interface PageOptions {
  readonly assets: Assets;
  readonly resultsUrl: string;
  readonly status?: number;
  /** The policy of the page's HTML; that of our own pages when absent. */
  readonly policy?: (html: string) => string;
}

/** A page of ours as the response to a request, stored by no cache: it may show what one user may see. */
export function pageResponse(request: Request, page: Page, options: PageOptions): Response {
  const { assets, resultsUrl, status, policy = () => pagePolicy(resultsUrl) } = options;
  const html = renderDocument(page, assets);
  return compressibleResponse(request, new TextEncoder().encode(html), "text/html; charset=utf-8", {
    status,
    headers: { "Content-Security-Policy": policy(html), "Cache-Control": "private, no-store", ...languageHeaders() },
  });
}
