import { inLanguageOf } from "@/lib/site/page_language.ts";
import { pagePolicy } from "@/lib/site/policies.ts";
import { define } from "@/lib/site/state.ts";

/** Renders every page in the reader's language, with the default content security policy unless the page sets another. */
export const handler = define.middleware(function inLanguage({ req, state, next }) {
  Object.assign(state, { policy: pagePolicy(state.resultsUrl(req)), user: null, current: null });
  return inLanguageOf(req, next);
});
