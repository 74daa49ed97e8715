/**
 * Has the forms that choose a language lead back to the address as it is now: the server knows neither its fragment nor
 * what scripts have changed of it.
 */
export function completeWayBack(document: Document): void {
  document.addEventListener("submit", ({ target }) => {
    if (!(target instanceof HTMLFormElement) || !target.matches(".languages")) return;
    const next = target.elements.namedItem("next");
    const { pathname, search, hash } = document.location;
    if (next instanceof HTMLInputElement) next.value = pathname + search + hash;
  });
}
