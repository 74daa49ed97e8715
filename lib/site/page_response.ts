import { compressibleResponse } from "@/lib/http/compressible.ts";
import type { Assets } from "./site.ts";
import { type Page, renderDocument } from "./document.tsx";
import { pagePolicy } from "./policies.ts";

interface PageOptions {
  readonly assets: Assets;
  readonly resultsUrl: string;
  readonly status?: number;
}

/** A page of ours as the response to a request, stored by no cache: it may show what one user may see. */
export function pageResponse(request: Request, page: Page, { assets, resultsUrl, status }: PageOptions): Response {
  const html = new TextEncoder().encode(renderDocument(page, assets));
  return compressibleResponse(request, html, "text/html; charset=utf-8", {
    status,
    headers: { "Content-Security-Policy": pagePolicy(resultsUrl), "Cache-Control": "private, no-store" },
  });
}
