import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import { Brand, LanguageChoice } from "@/components/frame_parts.tsx";
import ThemeSwitch from "@/islands/theme_switch.tsx";
import { addressOf, type RawTarget } from "@/lib/http/request_context.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { STORAGE_PATH } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { define } from "@/lib/site/state.ts";

/** The frame of every page but the login. */
export default define.layout(function Layout({ Component, state, info }) {
  const { user, current, afterLogin, storage } = state;
  return (
    <Frame here={info.target} user={user} current={current} afterLogin={afterLogin} hasStorage={storage !== null}>
      <Component />
    </Frame>
  );
});

interface FrameProps extends TopBarProps {
  /** The element around the page; `div` if the page contains a `main`. */
  readonly as?: "main" | "div";
  readonly children: ComponentChildren;
}

/** The way past the bar, the bar, the page. */
export function Frame({ as: Page = "main", children, ...bar }: FrameProps) {
  return (
    <>
      <a class="skip" href="#main">{LABELS.toContent}</a>
      <TopBar {...bar} />
      <Page id="main" tabIndex={-1}>{children}</Page>
    </>
  );
}

interface TopBarProps {
  /** The address of this page. */
  readonly here: RawTarget;
  /** The path after a login; this page when absent. */
  readonly afterLogin?: string;
  /** The user who is logged in; null: none, or unknown. */
  readonly user: string | null;
  readonly current: "campaigns" | "storage" | "api" | null;
  /** Whether this site has storage pages. */
  readonly hasStorage: boolean;
}

/** Product, the site's places, theme and account. */
function TopBar({ user, current, here, afterLogin = addressOf(here), hasStorage }: TopBarProps) {
  return (
    <header class="bar">
      <a class="product" href="/">
        <Brand />
      </a>
      <nav aria-label={LABELS.mainNavigation}>
        <a href="/" aria-current={current === "campaigns" ? "page" : undefined}>{LABELS.campaigns}</a>
        {hasStorage && (
          <a href={STORAGE_PATH} aria-current={current === "storage" ? "page" : undefined}>{STORAGE_LABELS.storage}</a>
        )}
        <a href="/docs" aria-current={current === "api" ? "page" : undefined}>{LABELS.api}</a>
      </nav>
      <div class="end">
        {user !== null && <span class="user" title={user}>{user}</span>}
        <LanguageChoice here={addressOf(here)} />
        <ThemeSwitch />
        {user === null
          ? <a class="btn" href={loginPath(afterLogin)}>{LABELS.logIn}</a>
          : (
            <form method="post" action={hasStorage ? "/logout" : "/results/_logout"}>
              <input type="hidden" name="next" value="/login" />
              <button class="btn log-out" type="submit">
                <Icon name="leave" />
                <span>{LABELS.logOut}</span>
              </button>
            </form>
          )}
      </div>
    </header>
  );
}
