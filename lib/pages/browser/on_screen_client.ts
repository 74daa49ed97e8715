/** Calls back whenever an element comes near the screen or leaves it. Returns a function that stops watching. */
type Watch = (element: Element, onChange: (onScreen: boolean) => void) => () => void;

/** @param margin how near the screen counts as on it, as a margin of CSS */
function watcher(margin: string): Watch {
  const watched = new WeakMap<Element, (onScreen: boolean) => void>();
  let observer: IntersectionObserver | null = null;
  return (element, onChange) => {
    observer ??= new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) watched.get(target)?.(isIntersecting);
    }, { rootMargin: margin });
    watched.set(element, onChange);
    observer.observe(element);
    return () => {
      observer?.unobserve(element);
      watched.delete(element);
    };
  };
}

export const watchOnScreen = watcher("200px");

/** The same with a larger margin, so that content is ready before it is scrolled into view. */
export const watchNearScreen = watcher("800px 0px");
