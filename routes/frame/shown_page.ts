import type { Handler, RequestContext } from "@/lib/http/request_context.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";

/** The response of a page to a request that may only read it, in the language of its reader. @throws HttpError 405 */
export function shownPage(context: RequestContext, operation: string, page: Handler): Response | Promise<Response> {
  context.mustRead();
  context.operation = operation;
  return inLanguageOf(context.request, () => page(context));
}
