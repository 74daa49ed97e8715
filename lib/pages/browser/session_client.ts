import { loginPath } from "@/lib/pages/page_paths.ts";
import { store, stored } from "./browser_memory_client.ts";

let isLeaving = false;

/** Leaves for the login page, which leads back here. Further calls on the way have no effect. */
export function goToLogin(): void {
  if (isLeaving) return;
  isLeaving = true;
  // The back button may bring this very page again, which then has to be able to leave once more.
  addEventListener("pagehide", () => isLeaving = false, { once: true });
  location.assign(loginPath(location.pathname + location.search + location.hash));
}

const KEY = "stackroom.rendered-again";

/**
 * Requests this page again. The first request from a link in a mail carries no session, because the
 * cookie is for our own site only; one that starts here does. Once until the server saw a session, in case it never does.
 */
export function renderAgain(): void {
  // An address with a fragment would only scroll this page, so the fragment waits.
  const isFirst = stored(KEY, "session") === null && store(KEY, location.hash, "session");
  // Without a memory it might go round for ever; the page works as it is.
  if (isFirst) location.replace(location.pathname + location.search);
}

/** Records that the server saw a session: the next page without one may be requested again. */
export function renderedWithSession(): void {
  const hash = stored(KEY, "session");
  store(KEY, null, "session");
  if (hash && location.hash === "") location.replace(hash);
}
