import type { AddRoute } from "@/lib/http/app.ts";
import { compressibleResponse } from "@/lib/http/compressible.ts";
import { UNFRAMED_POLICY } from "@/lib/http/default_headers.ts";
import { type DocumentInfo, openApiDocument } from "@/lib/http/openapi.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { inLanguageOf, languageHeaders } from "@/lib/site/page_language.ts";
import type { SiteDeps } from "@/lib/site/site.ts";
import { DOCS_START, DOCS_STYLES, DOCS_THEME } from "./docs_assets.ts";
import { docsPage } from "./docs_page.tsx";

/** Swagger UI sets inline styles, so styles alone may be inline here. */
const DOCS_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  `connect-src 'self'; base-uri 'none'; form-action 'self'; ${UNFRAMED_POLICY}`;

const INFO: Omit<DocumentInfo, "sessionCookie"> = {
  title: "Stackroom",
  version: "1.0.0",
  description:
    "A gateway in front of an object store (tenants, namespaces, buckets, objects, presigned URLs), and campaigns that are read by machine.",
  firstTag: "Campaigns",
  loginDescription: "The username is `name` at system level and `tenant/name` in a tenant.",
  tokenUrl: "api/v1/auth/token",
};

const PACKAGE_FILES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};

/**
 * The API page with its login button, all of it from our own origin, and the document behind it.
 *
 * @param site the site whose frame the page wears; null in a process without pages
 */
export function mountDocs(
  add: AddRoute,
  operations: readonly Operation[],
  sessionCookie: string,
  site: SiteDeps | null,
): void {
  // Created at the first request: a start should not wait for what few clients read.
  let document: Uint8Array<ArrayBuffer> | null = null;
  const openApi = () => document ??= encoded(JSON.stringify(openApiDocument(operations, { ...INFO, sessionCookie })));
  serve(add, "/openapi.json", "application/json", openApi);
  add("/docs", (context) => {
    context.mustRead();
    const { request } = context;
    return inLanguageOf(
      request,
      async () =>
        docsFile(context, encoded(await docsPage(request, site)), "text/html; charset=utf-8", languageHeaders()),
    );
  });
  serve(add, "/docs/docs.css", "text/css; charset=utf-8", () => encoded(DOCS_STYLES));
  serve(add, "/docs/theme.js", "text/javascript; charset=utf-8", () => encoded(DOCS_THEME));
  serve(add, "/docs/start.js", "text/javascript; charset=utf-8", () => encoded(DOCS_START));
  for (const [name, type] of Object.entries(PACKAGE_FILES)) serve(add, `/docs/${name}`, type, () => packageFile(name));
  for (const path of ["/redoc", "/docs/"]) {
    add(path, () => new Response(null, { status: 307, headers: { Location: "/docs" } }));
  }
}

type Content = Uint8Array<ArrayBuffer>;

function serve(
  add: AddRoute,
  path: string,
  type: string,
  content: () => Content | Promise<Content>,
): void {
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

const files = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

/** A file of the swagger-ui-dist package, read once; where packages lie is the runtime's business. */
function packageFile(name: string): Promise<Uint8Array<ArrayBuffer>> {
  let file = files.get(name);
  if (!file) {
    file = Deno.readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
    file.catch(() => files.delete(name));
    files.set(name, file);
  }
  return file;
}
