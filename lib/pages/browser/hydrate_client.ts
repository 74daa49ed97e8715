import { type FunctionComponent, h, hydrate } from "preact";

import { SCRIPT_FAILURE } from "@/lib/pages/frame_sentences.ts";

/** Loads the code of each island by its name. */
type Loaders = Readonly<Record<string, () => Promise<{ readonly default: { Component: FunctionComponent } }>>>;

/**
 * Hydrates every island of a document and marks it with `data-hydrated`. A failure is reported on the console and by a
 * sentence before the server-rendered markup; it does not affect the other islands.
 */
export async function hydrateIslands(root: ParentNode, loaders: Loaders): Promise<void> {
  await Promise.all([...root.querySelectorAll<HTMLElement>("[data-island]")].map((place) => wake(place, loaders)));
}

async function wake(place: HTMLElement, loaders: Loaders): Promise<void> {
  const name = place.dataset.island ?? "";
  try {
    if (!Object.hasOwn(loaders, name)) throw new Error("there is no such file in islands/");
    const { default: { Component } } = await loaders[name]();
    hydrate(h(Component, JSON.parse(place.dataset.props ?? "{}")), place);
    place.dataset.hydrated = "";
  } catch (error) {
    console.error(`Island "${name}":`, error);
    place.prepend(failureNotice(place.ownerDocument));
  }
}

function failureNotice(document: Document): HTMLElement {
  const notice = document.createElement("p");
  notice.className = "banner bad script-failure";
  notice.role = "alert";
  const button = document.createElement("button");
  button.className = "btn";
  button.type = "button";
  button.textContent = SCRIPT_FAILURE.tryAgain;
  button.addEventListener("click", () => document.location.reload());
  notice.append(`${SCRIPT_FAILURE.sentence} `, button);
  return notice;
}

/**
 * Makes the language forms lead back to the current address: the server knows neither its fragment nor changes by scripts.
 */
export function completeBackLink(document: Document): void {
  document.addEventListener("submit", ({ target }) => {
    if (!(target instanceof HTMLFormElement) || !target.matches(".languages")) return;
    const next = target.elements.namedItem("next");
    const { pathname, search, hash } = document.location;
    if (next instanceof HTMLInputElement) next.value = pathname + search + hash;
  });
}
