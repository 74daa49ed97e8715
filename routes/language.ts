import { readForm } from "@/lib/http/body.ts";
import { invalid } from "@/lib/http/errors.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { ownPath } from "@/lib/http/request_context.ts";
import { LANGUAGES } from "@/lib/pages/locale/language.ts";
import { browserScheme, requireSameOrigin } from "@/lib/auth/session_token.ts";
import { languageCookie } from "@/lib/site/page_language.ts";
import { define } from "@/lib/site/state.ts";

/**
 * POST /language: stores the reader's choice of a language, and leads back to the page of the form.
 *
 * @throws HttpError 403 for a form of another site, 405, 408, 413, 422
 */
export const handler = define.handlers({
  async POST({ req, info }) {
    info.operation = "choose_language";
    // Read now: once a client has left, its request can no longer be read.
    const scheme = browserScheme(req);
    requireSameOrigin(req);
    const fields = await readForm(req);
    const language = LANGUAGES.find((language) => language === fields.get("language"));
    if (!language) {
      const msg = `Input should be one of ${LANGUAGES.join(", ")}`;
      throw invalid([{ type: "enum", loc: ["body", "language"], msg }]);
    }
    return seeOther(ownPath(fields.get("next") ?? "/") ?? "/", [languageCookie(scheme, language)]);
  },
});
