import { type FunctionComponent, h, hydrate } from "preact";

/** Loads the code of each island by its name. */
type Loaders = Readonly<Record<string, () => Promise<{ readonly default: { Component: FunctionComponent } }>>>;

/**
 * Wakes up every island of a document and marks it with `data-hydrated`. One that fails is reported on the console and
 * leaves its server-rendered markup as it is; the others go on.
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
  }
}
