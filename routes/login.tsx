import { Brand, LanguageChoice } from "@/components/frame_parts.tsx";
import { PageDrawing, SampleLogins } from "@/components/login_parts.tsx";
import LoginNotice from "@/islands/login_notice.tsx";
import { LONGEST_WAIT_MS } from "@/lib/auth/credential_memory.ts";
import { addressOf } from "@/lib/http/request_context.ts";
import { foreignOriginSentence } from "@/lib/pages/coded_check_sentences.ts";
import {
  accountKind,
  accountSentence,
  LOGIN_LABELS,
  LOGIN_SENTENCES,
  loginErrorSentence,
  type LoginMoment,
} from "@/lib/pages/login_sentences.ts";
import { type LoginNote, nextPath, readLoginNote } from "@/lib/results/results_login.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { define, defineStorage, type State } from "@/lib/site/state.ts";
import { loginForm } from "@/lib/site/storage/login_forms.ts";
import { newestAccount } from "@/lib/site/storage/logins.ts";
import type { ComponentChildren } from "preact";

/** Most characters that the results role accepts. */
const MAX_USERNAME = 256;
const MAX_PASSWORD = 1024;

/** The notice after a failed form, an ended session or a logout. */
type Notice =
  /** `isForApi`: the account may be meant for the API. */
  | { readonly kind: "failed"; readonly sentence: string; readonly isForApi: boolean }
  | { readonly kind: "moment"; readonly moment: LoginMoment }
  | { readonly kind: "said"; readonly sentence: string }
  | { readonly kind: "logged in"; readonly user: string };

export const config = { skipInheritedLayouts: true };

/** `/login`: a form that is sent to the results role, also without scripts; to this page where there are storage pages. */
const shown = define.handlers({
  async GET({ req, url, state }) {
    const query = url.searchParams;
    const note = readLoginNote(req);
    const session = await state.session(req);
    const user = userOf(session);
    const now = state.now();
    const error = query.get("error");
    const notice: Notice | null = error !== null
      // With storage pages, the same form accepts accounts that open no campaigns.
      ? failure(query, note, now, state.storage ? null : state.campaignTenant)
      : user !== null
      ? { kind: "logged in", user }
      // A site without a cluster does not check sessions, and during an outage none can be checked.
      : farewell(
        note,
        now,
        state.resultsUrl(req) !== "" && session === null && newestAccount(state.storage, req) === null,
      );
    state.title = LOGIN_LABELS.title;
    return page({
      next: nextPath(query.get("next")),
      username: error !== null && note?.kind === "failed" ? note.username : "",
      notice,
      now,
      samples: state.sampleLogins,
      action: state.storage ? "/login" : "/results/_login",
    });
  },
});

/** Where the site has storage pages: the campaigns alone are logged in to at `/results/_login`. */
const sent = defineStorage.handlers({
  POST: ({ state, info }) => loginForm(state.storage)(info),
});

export const handler = { ...shown, ...sent };

/** The whole page: what Stackroom is, the form, the sample accounts. */
export default define.page<typeof handler>(function Login({ data, info }) {
  return (
    <main id="main" class="login">
      <div class="pitch">
        <p class="product">
          <Brand />
        </p>
        <h1>{LOGIN_LABELS.pitch}</h1>
        <p>{LOGIN_LABELS.about}</p>
        <PageDrawing />
      </div>
      <LoginPanel {...data} />
      <LanguageChoice here={addressOf(info.target)} />
    </main>
  );
});

/** The notice of a failed login. */
function failure(query: URLSearchParams, note: LoginNote | null, now: number, campaignTenant: string | null): Notice {
  const code = query.get("error") ?? "";
  const foreign = code === "403" ? foreignOriginSentence(query.get("code")) : null;
  const failed = { kind: "failed", sentence: foreign ?? loginErrorSentence(code), isForApi: false } as const;
  if (note?.kind !== "failed") return failed;
  // The cookie comes from the browser: ignore a wait that is longer than any real one.
  if (code === "429" && note.retryAt !== null && note.retryAt <= now + LONGEST_WAIT_MS) {
    return { kind: "moment", moment: { kind: "locked", at: note.retryAt } };
  }
  if (code !== "401" || campaignTenant === null) return failed;
  const account = accountKind(note.username, campaignTenant);
  return {
    kind: "failed",
    sentence: accountSentence(account, campaignTenant) ?? failed.sentence,
    isForApi: account === "no tenant",
  };
}

/** The notice for a browser whose session is over. */
function farewell(note: LoginNote | null, now: number, checksSessions: boolean): Notice | null {
  if (note?.kind === "loggedOut") return { kind: "said", sentence: LOGIN_SENTENCES.loggedOut };
  if (note?.kind !== "session") return null;
  if (note.endsAt <= now) return { kind: "moment", moment: { kind: "ended", at: note.endsAt } };
  return checksSessions ? { kind: "said", sentence: LOGIN_SENTENCES.endedEarly } : null;
}

interface LoginPanelProps {
  /** The path after the login. */
  readonly next: string;
  /** Initial value of the user name. */
  readonly username: string;
  readonly notice: Notice | null;
  /** ms since 1970 */
  readonly now: number;
  readonly samples: State["sampleLogins"];
  /** Where the form is sent. */
  readonly action: string;
}

/** The form with its notice, and the sample accounts. */
export function LoginPanel({ next, username, notice, now, samples, action }: LoginPanelProps) {
  return (
    <div class="panel">
      <form method="post" action={action}>
        <h2>{LOGIN_LABELS.title}</h2>
        <input type="hidden" name="next" value={next} />
        <Field label={LOGIN_LABELS.userName}>
          <input
            name="username"
            type="text"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            required
            maxLength={MAX_USERNAME}
            value={username}
            autofocus={username === ""}
          />
        </Field>
        <Field label={LOGIN_LABELS.password}>
          <input
            name="password"
            type="password"
            autocomplete="current-password"
            required
            maxLength={MAX_PASSWORD}
            autofocus={username !== ""}
          />
        </Field>
        {notice && <NoticeOf notice={notice} next={next} now={now} />}
        <button class="btn primary" type="submit">{LOGIN_LABELS.logIn}</button>
      </form>
      {samples && <SampleLogins {...samples} next={next} action={action} />}
    </div>
  );
}

function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <label>
      {label}
      {children}
    </label>
  );
}

function NoticeOf({ notice, next, now }: { notice: Notice; next: string; now: number }) {
  switch (notice.kind) {
    case "failed":
      return (
        <div class="login-notice bad" role="alert">
          <p>
            {notice.sentence}
            {notice.isForApi && (
              <>
                {" "}
                <a href="/docs">{LOGIN_LABELS.apiPage}</a>
              </>
            )}
          </p>
        </div>
      );
    case "moment":
      return (
        <div
          class={`login-notice ${notice.moment.kind === "locked" ? "bad" : ""}`}
          role={notice.moment.kind === "locked" ? "alert" : "status"}
        >
          <LoginNotice {...notice.moment} renderedAt={now} />
          {notice.moment.kind === "ended" && next !== "/" && <p>{LOGIN_SENTENCES.leadsBack}</p>}
        </div>
      );
    case "said":
      return <p class="login-notice" role="status">{notice.sentence}</p>;
    case "logged in":
      return (
        <div class="login-notice" role="status">
          <p>
            {LOGIN_SENTENCES.loggedInAs(notice.user)} <a href={next}>{LOGIN_LABELS.goOn}</a>
          </p>
        </div>
      );
  }
}
