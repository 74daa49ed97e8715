const KEY = "stackroom.rendered-again";

/**
 * Requests this page again. The first request from a link in a mail carries no session, because the
 * cookie is for our own site only; one that starts here does. Once until the server saw a session, in case it never does.
 */
export function renderAgain(): void {
  try {
    if (sessionStorage.getItem(KEY) !== null) return;
    // An address with a fragment would only scroll this page, so the fragment waits.
    sessionStorage.setItem(KEY, location.hash);
    location.replace(location.pathname + location.search);
  } catch {
    // Without a memory it might go round for ever; the page works as it is.
  }
}

/** Records that the server saw a session: the next page without one may be requested again. */
export function renderedWithSession(): void {
  try {
    const hash = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    if (hash && location.hash === "") location.replace(hash);
  } catch {
    // Nothing was remembered.
  }
}
