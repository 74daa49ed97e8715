import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";

import { type AddRoute } from "@/lib/http/app.ts";
import { compressibleResponse } from "@/lib/http/header_values.ts";
import { type DocumentInfo, openApiDocument } from "@/lib/http/openapi.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { type RawTarget, type RequestContext, UNFRAMED_POLICY } from "@/lib/http/request_context.ts";
import { THEME_KEY } from "@/lib/pages/stored_names.ts";
import { currentLanguage } from "@/lib/pages/locale/language.ts";
import { favicon, LABELS, pageTitle, SENTENCES } from "@/lib/pages/page_sentences.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { inLanguageOf, languageHeaders } from "@/lib/site/page_language.ts";
import type { Site } from "@/lib/site/state.ts";
import { Frame } from "./_layout.tsx";

/** The parts of the site that the page's frame needs. */
type DocsSite = Pick<Site, "assets" | "session" | "storage">;

/** Swagger UI sets inline styles, so styles alone may be inline here. */
const DOCS_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  `connect-src 'self'; base-uri 'none'; form-action 'self'; ${UNFRAMED_POLICY}`;

const INFO: Omit<DocumentInfo, "sessionCookie"> = {
  title: "Stackroom",
  version: "1.0.0",
  description:
    "A gateway to an object store (tenants, namespaces, buckets, objects, presigned URLs), and a read API for campaigns.",
  firstTag: "Campaigns",
  loginDescription: "Log in as `name` (system level) or `tenant/name`.",
  tokenUrl: "api/v1/auth/token",
};

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const own = (name: string) => new URL(`./docs/${name}`, import.meta.url);
/** A file of the npm package: the runtime knows where packages are. */
const packaged = (name: string) => new URL(import.meta.resolve(`swagger-ui-dist/${name}`));

/** The files that the page loads, by their names below `/docs`. */
const FILES: Readonly<Record<string, readonly [type: string, file: URL]>> = {
  "docs.css": [CSS, own("docs.css")],
  "start.js": [SCRIPT, own("start.js")],
  "swagger-ui.css": [CSS, packaged("swagger-ui.css")],
  "swagger-ui-bundle.js": [SCRIPT, packaged("swagger-ui-bundle.js")],
};

/**
 * The reader's theme, as on the other pages, before anything is painted. Swagger UI has dark colours, but leaves it to
 * the page to ask for them.
 */
const DOCS_THEME = `const root = document.documentElement;
root.dataset.scripts = "";
try {
  const theme = localStorage.getItem("${THEME_KEY}");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
} catch {}
const dark = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
const follow = () => {
  const { theme } = root.dataset;
  const isDark = theme === undefined ? dark.matches : theme === "dark";
  root.classList.toggle("dark-mode", isDark && !paper.matches);
};
dark.addEventListener("change", follow);
paper.addEventListener("change", follow);
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();
`;

/**
 * The API page with its login button, all of it from our own origin, and the document behind it.
 *
 * @param site the site whose frame the page wears; null in a process without pages
 */
export function mountDocs(
  add: AddRoute,
  operations: readonly Operation[],
  sessionCookie: string,
  site: DocsSite | null,
): void {
  // Created at the first request: a start should not wait for what few clients read.
  let document: Content | null = null;
  const openApi = () => document ??= encoded(JSON.stringify(openApiDocument(operations, { ...INFO, sessionCookie })));
  serve(add, "/openapi.json", "application/json", openApi);
  add("/docs", (context) => {
    context.mustRead();
    const { request } = context;
    return inLanguageOf(request, async () => {
      const page = encoded(await docsPage(request, site));
      return docsFile(context, page, "text/html; charset=utf-8", languageHeaders());
    });
  });
  serve(add, "/docs/theme.js", SCRIPT, () => encoded(DOCS_THEME));
  for (const [name, [type, file]] of Object.entries(FILES)) serve(add, `/docs/${name}`, type, () => readOnce(file));
  for (const path of ["/redoc", "/docs/"]) {
    add(path, () => new Response(null, { status: 307, headers: { Location: "/docs" } }));
  }
}

type Content = Uint8Array<ArrayBuffer>;

function serve(add: AddRoute, path: string, type: string, content: () => Content | Promise<Content>): void {
  add(path, async (context) => {
    context.mustRead();
    return docsFile(context, await content(), type);
  });
}

function docsFile(context: RequestContext, content: Content, type: string, headers = {}): Response {
  context.operation = "docs";
  return compressibleResponse(context.request, content, type, {
    headers: { "Content-Security-Policy": DOCS_POLICY, "Cache-Control": "no-cache", ...headers },
  });
}

function encoded(text: string): Content {
  return new TextEncoder().encode(text);
}

const files = new Map<URL, Promise<Content>>();

function readOnce(url: URL): Promise<Content> {
  let file = files.get(url);
  if (!file) {
    file = Deno.readFile(url);
    file.catch(() => files.delete(url));
    files.set(url, file);
  }
  return file;
}

const DOCS: RawTarget = { path: "/docs", query: "" };

/** The API page: Swagger UI, in the frame of the site where this process has one. */
async function docsPage(request: Request, site: DocsSite | null): Promise<string> {
  const explorer = (
    <>
      <p class="without-scripts">
        {SENTENCES.apiNeedsScripts} <a href="/openapi.json">/openapi.json</a>
      </p>
      <div id="swagger-ui" lang="en" />
    </>
  );
  const body = site
    ? (
      <Frame
        user={userOf(await site.session(request))}
        current="api"
        here={DOCS}
        hasStorage={site.storage !== null}
        as="div"
      >
        {explorer}
      </Frame>
    )
    : explorer;
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
function SiteFiles({ stylesheet, scripts }: Site["assets"]): ComponentChildren {
  const { script, preload } = scripts[currentLanguage()];
  return (
    <>
      <link rel="stylesheet" href={stylesheet} />
      {preload.map((href) => <link key={href} rel="modulepreload" href={href} />)}
      <script type="module" src={script} />
    </>
  );
}
