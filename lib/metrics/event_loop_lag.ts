/** How often the event loop is probed, ms. */
const EVERY_MS = 500;

/**
 * Measures how late a timer is.
 *
 * @param observe receives the delay, s
 * @returns ends it
 */
export function watchEventLoop(observe: (seconds: number) => void): () => void {
  let dueAt = performance.now() + EVERY_MS;
  const probe = () => {
    const now = performance.now();
    observe(Math.max(0, now - dueAt) / 1000);
    dueAt = now + EVERY_MS;
    timer = setTimeout(probe, EVERY_MS);
    Deno.unrefTimer(timer);
  };
  let timer = setTimeout(probe, EVERY_MS);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
