import type { ComponentChildren } from "preact";

import { TopBar, type TopBarProps } from "./top_bar.tsx";

/** The frame of every page but the login: the way past the bar, the bar, the page. */
export function Shell(
  { user, current, children }: TopBarProps & { children: ComponentChildren },
) {
  return (
    <>
      <a class="skip" href="#main">Skip to the content</a>
      <TopBar user={user} current={current} />
      <main id="main" tabIndex={-1}>{children}</main>
    </>
  );
}
