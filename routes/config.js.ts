import { createDefine } from "@/lib/site/define.ts";
import type { Site } from "@/lib/site/state.ts";

const API_BASE = "/api/v1";

/** `/config.js`: where the browser finds the API and the results, written for each request. */
export const handler = createDefine<Pick<Site, "resultsUrl">>().handlers({
  GET({ req, state, info }) {
    info.operation = "config_js";
    const text = "// The addresses of this site, as the browser reaches them.\n" +
      `window.API_BASE = ${asScript(API_BASE)};\n` +
      `window.RESULTS_BASE = ${asScript(state.resultsUrl(req))};\n`;
    return new Response(text, {
      headers: { "Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache" },
    });
  },
});

/** A text as a script's string that ends neither a script element nor a line, whatever is in it. */
function asScript(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
