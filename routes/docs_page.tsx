import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";

import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { favicon, pageTitle } from "@/lib/presentation/page_tab.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { Shell } from "@/routes/frame/shell.tsx";

/** The API page: Swagger UI, in the frame of the site where this process has one. */
export async function docsPage(request: Request, site: SiteDeps | null): Promise<string> {
  const explorer = <div id="swagger-ui" />;
  const body = site
    ? (
      <Shell user={userOf(await site.session(request))} current="api" hasStorage={site.hasStorage} as="div">
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
    <html lang="en">
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
function SiteFiles({ stylesheet, preload, script }: SiteDeps["assets"]): ComponentChildren {
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
