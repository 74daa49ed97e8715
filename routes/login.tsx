import type { RequestContext } from "@/lib/http/request_context.ts";
import { LABELS, loginErrorSentence, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { nextPath } from "@/lib/results/login_form.ts";
import { pageResponse } from "@/lib/site/page_response.ts";
import type { SiteDeps } from "@/lib/site/site.ts";

/** Most characters that the results role accepts. */
const MAX_USERNAME = 256;
const MAX_PASSWORD = 1024;

/** `/login`: a form that is sent to the results role, also without scripts. */
export function loginPage(deps: Pick<SiteDeps, "assets" | "resultsUrl">) {
  return function loginPage(context: RequestContext): Response {
    const query = new URLSearchParams(context.target.query);
    const body = <Login next={nextPath(query.get("next"))} error={loginErrorSentence(query.get("error"))} />;
    const { assets, resultsUrl } = deps;
    const { request } = context;
    return pageResponse(request, { title: LABELS.logIn, body }, { assets, resultsUrl: resultsUrl(request) });
  };
}

function Login({ next, error }: { next: string; error: string | null }) {
  return (
    <main id="main" class="login">
      <form method="post" action="/results/_login">
        <h1>Stackroom</h1>
        <p class="note">{SENTENCES.login}</p>
        <input type="hidden" name="next" value={next} />
        <label>
          {LABELS.userName}
          <input
            name="username"
            type="text"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            required
            maxLength={MAX_USERNAME}
            autofocus
          />
        </label>
        <label>
          {LABELS.password}
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            required
            maxLength={MAX_PASSWORD}
          />
        </label>
        {error !== null && <p class="problem" role="alert">{error}</p>}
        <button class="btn primary" type="submit">{LABELS.logIn}</button>
      </form>
    </main>
  );
}
