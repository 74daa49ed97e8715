/** How near the screen counts as on it. */
const MARGIN = "200px";

const watched = new WeakMap<Element, (onScreen: boolean) => void>();
let observer: IntersectionObserver | null = null;

/** Calls back whenever an element comes near the screen or leaves it. @returns a function that ends that */
export function watchOnScreen(element: Element, onChange: (onScreen: boolean) => void): () => void {
  observer ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) watched.get(target)?.(isIntersecting);
  }, { rootMargin: MARGIN });
  watched.set(element, onChange);
  observer.observe(element);
  return () => {
    observer?.unobserve(element);
    watched.delete(element);
  };
}
