import type { RequestContext } from "@/lib/http/request_context.ts";

const API_BASE = "/api/v1";

/** `/config.js`: where the browser finds the API and the results, written for each request. */
export function configJs(resultsUrl: (request: Request) => string) {
  return function configJs(context: RequestContext): Response {
    const text = "// The addresses of this site, as the browser reaches them.\n" +
      `window.API_BASE = ${asScript(API_BASE)};\n` +
      `window.RESULTS_BASE = ${asScript(resultsUrl(context.request))};\n`;
    return new Response(text, {
      headers: { "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache" },
    });
  };
}

/** A text as a script's string that ends neither a script element nor a line, whatever is in it. */
function asScript(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
