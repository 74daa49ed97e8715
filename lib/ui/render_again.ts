const KEY = "stackroom.rendered-again";

/**
 * Asks the server for this page once more. The first request from a link in a mail carries no session, because the
 * cookie is for our own site only; one that starts here does. Once per tab, in case the server sees it differently.
 */
export function renderAgain(): void {
  try {
    if (sessionStorage.getItem(KEY) !== null) return;
    sessionStorage.setItem(KEY, "");
    location.replace(location.pathname + location.search);
  } catch {
    // Without a memory it might go round for ever; the page works as it is.
  }
}
