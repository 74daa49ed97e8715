import { compressibleResponse } from "@/lib/http/compressible.ts";
import type { Assets } from "./site.ts";
import { languageHeaders } from "./page_language.ts";
import { type Page, renderDocument } from "./document.tsx";
import { pagePolicy } from "./policies.ts";

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
