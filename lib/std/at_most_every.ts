/**
 * Limits how often something is done, such as a report of an error that would repeat with each request.
 *
 * @param intervalMs from a `true` to the next, ms
 * @param now ms
 * @returns a function that says whether it may be done now, and counts it as done where it may
 */
export function atMostEvery(intervalMs: number, now = () => performance.now()): () => boolean {
  let last = -Infinity;
  return function mayHappen() {
    const time = now();
    if (time - last < intervalMs) return false;
    last = time;
    return true;
  };
}
