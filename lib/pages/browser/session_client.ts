import { loginPath } from "@/lib/pages/page_paths.ts";
import { store, stored } from "./browser_memory_client.ts";

let isLeaving = false;

/** Goes to the login page, which leads back here. Repeated calls have no effect. */
export function goToLogin(): void {
  if (isLeaving) return;
  isLeaving = true;
  // The back button may restore this page from the cache.
  addEventListener("pagehide", () => isLeaving = false, { once: true });
  location.assign(loginPath(location.pathname + location.search + location.hash));
}

const KEY = "stackroom.rendered-again";

/**
 * Reloads the page. The first request from a link in a mail has no session, because the cookie is limited to this site; a
 * request from the page itself has it. Only once until the server saw a session, in case it never does.
 */
export function renderAgain(): void {
  // An address with a fragment would only scroll this page, so the fragment is stored and restored later.
  const isFirst = stored(KEY, "session") === null && store(KEY, location.hash, "session");
  // Without storage this might loop; the page works without a reload.
  if (isFirst) location.replace(location.pathname + location.search);
}

/** Records that the server saw a session, which allows the next reload. */
export function renderedWithSession(): void {
  const hash = stored(KEY, "session");
  store(KEY, null, "session");
  if (hash && location.hash === "") location.replace(hash);
}
