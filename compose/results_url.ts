import type { ResultsUrl } from "@/lib/config/campaigns.ts";
import { browserScheme } from "@/lib/results/browser_origin.ts";
import { withoutTrailingSlash } from "@/lib/std/without_trailing_slash.ts";

/**
 * The base of result URLs for the browser that sent a request; "" for a site without results. The request's own origin
 * is only used where the Host name was checked before.
 */
export function resultsUrlFor(setting: ResultsUrl, request: Request): string {
  switch (setting.kind) {
    case "fixed":
      return withoutTrailingSlash(setting.url);
    case "own-origin":
      return `${browserScheme(request)}://${new URL(request.url).host}/results`;
    case "none":
      return "";
  }
}
