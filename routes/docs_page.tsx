import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";

import type { RawTarget } from "@/lib/http/raw_path.ts";
import { currentLanguage } from "@/lib/presentation/locale/language.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { favicon, pageTitle } from "@/lib/presentation/page_tab.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { Shell } from "@/routes/frame/shell.tsx";

const DOCS: RawTarget = { path: "/docs", query: "" };

/** The API page: Swagger UI, in the frame of the site where this process has one. */
export async function docsPage(request: Request, site: SiteDeps | null): Promise<string> {
  const explorer = <div id="swagger-ui" lang="en" />;
  const body = site
    ? (
      <Shell user={userOf(await site.session(request))} current="api" here={DOCS} hasStorage={site.hasStorage} as="div">
        <WithoutScripts />
        {explorer}
      </Shell>
    )
    : (
      <>
        <WithoutScripts />
        {explorer}
      </>
    );
  return "<!doctype html>" + renderToString(
    <html lang={currentLanguage()}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{pageTitle(LABELS.api, 0)}</title>
        <script src="docs/theme.js" />
        <link rel="icon" href={favicon(0)} />
        {site && <SiteFiles {...site.assets} />}
        <link rel="stylesheet" href="docs/swagger-ui.css" />
        <link rel="stylesheet" href="docs/docs.css" />
      </head>
      <body>
        {body}
        <script src="docs/swagger-ui-bundle.js" />
        <script src="docs/start.js" />
      </body>
    </html>,
  );
}

/** The stylesheet of the bar, and the script of its theme switch. */
function SiteFiles({ stylesheet, scripts }: SiteDeps["assets"]): ComponentChildren {
  const { script, preload } = scripts[currentLanguage()];
  return (
    <>
      <link rel="stylesheet" href={stylesheet} />
      {preload.map((href) => <link key={href} rel="modulepreload" href={href} />)}
      <script type="module" src={script} />
    </>
  );
}

function WithoutScripts() {
  return (
    <p class="without-scripts">
      {SENTENCES.apiNeedsScripts} <a href="/openapi.json">/openapi.json</a>
    </p>
  );
}
