import { inLanguageOf } from "@/lib/site/page_language.ts";
import { pagePolicy } from "@/lib/site/policies.ts";
import { define } from "@/lib/site/state.ts";

/** Every page is in the language of its reader, and under the policy of our pages where it has none of its own. */
export const handler = define.middleware(function inLanguage({ req, state, next }) {
  Object.assign(state, { policy: pagePolicy(state.resultsUrl(req)), user: null, current: null });
  return inLanguageOf(req, next);
});
