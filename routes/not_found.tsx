import type { RequestContext } from "@/lib/http/request_context.ts";
import { LABELS, SENTENCES } from "@/lib/pages/page_sentences.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { STORAGE_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { userOf } from "@/lib/site/site.ts";
import { Shell } from "@/routes/frame/shell.tsx";
import type { CampaignPageDeps } from "./index.tsx";

/** The page for an unknown address; null where the client does not accept a page. Below `/storage` it leads there. */
export function notFoundPage(deps: CampaignPageDeps) {
  return async function notFoundPage(context: RequestContext): Promise<Response | null> {
    const request = context.request;
    if (!wantsPage(request, context.target.path)) return null;
    context.operation = "not_found_page";
    const isOfStorage = deps.hasStorage && context.target.path.startsWith(`${STORAGE_PATH}/`);
    const user = isOfStorage ? deps.storageLogin(request) : userOf(await deps.session(request));
    return inLanguageOf(request, () =>
      pageResponse(request, {
        title: LABELS.notFound,
        body: (
          <Shell
            user={user}
            current={isOfStorage ? "storage" : null}
            here={context.target}
            afterLogin={isOfStorage ? STORAGE_PATH : "/"}
            hasStorage={deps.hasStorage}
          >
            <div class="head">
              <h1>{LABELS.notFound}</h1>
            </div>
            <p>
              {SENTENCES.noPage}{" "}
              {isOfStorage
                ? <a href={STORAGE_PATH}>{STORAGE_LABELS.toBuckets}</a>
                : <a href="/">{LABELS.toCampaigns}</a>}
            </p>
          </Shell>
        ),
      }, { assets: deps.assets, resultsUrl: deps.resultsUrl(request), status: 404 }));
  };
}

/** Programs read the API and the results, and get JSON there whatever they say they accept. */
function wantsPage({ method, headers }: Request, path: string): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !/^\/(?:api|results)(?:\/|$)/.test(path) && /\btext\/html\b/i.test(headers.get("Accept") ?? "");
}
