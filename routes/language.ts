import { readForm } from "@/lib/http/body.ts";
import { invalid, methodNotAllowed } from "@/lib/http/errors.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { ownPath } from "@/lib/http/raw_path.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { LANGUAGES } from "@/lib/pages/locale/language.ts";
import { browserScheme, requireSameOrigin } from "@/lib/auth/browser_origin.ts";
import { languageCookie } from "@/lib/site/page_language.ts";

/**
 * POST /language: stores the reader's choice of a language, and leads back to the page of the form.
 *
 * @throws HttpError 403 for a form of another site, 405, 408, 413, 422
 */
export async function chooseLanguage(context: RequestContext): Promise<Response> {
  context.operation = "choose_language";
  if (context.method !== "POST") throw methodNotAllowed(["POST"]);
  // Read now: once a client has left, its request can no longer be read.
  const scheme = browserScheme(context.request);
  requireSameOrigin(context.request);
  const fields = await readForm(context.request);
  const language = LANGUAGES.find((language) => language === fields.get("language"));
  if (!language) {
    throw invalid([{ type: "enum", loc: ["body", "language"], msg: `Input should be one of ${LANGUAGES.join(", ")}` }]);
  }
  return seeOther(ownPath(fields.get("next") ?? "/") ?? "/", [languageCookie(scheme, language)]);
}
