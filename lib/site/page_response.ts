import type { Assets } from "./assets.ts";
import { type Page, renderDocument } from "./document.tsx";
import { pagePolicy } from "./policies.ts";

/** A page of ours as an answer, kept by no cache: it may show what one user may see. */
export function pageResponse(page: Page, { assets, resultsUrl, status = 200 }: {
  readonly assets: Assets;
  readonly resultsUrl: string;
  readonly status?: number;
}): Response {
  return new Response(renderDocument(page, assets), {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": pagePolicy(resultsUrl),
      "Cache-Control": "private, no-store",
    },
  });
}
