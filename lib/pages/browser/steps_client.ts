import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

/** Short enough that a reader notices nothing of it while leafing and scrolling. */
const SLICE_MS = 8;

/**
 * Runs the steps of a computation to their end and lets the page react in between.
 *
 * @param sliceMs how long they run on without that
 * @returns null once the signal is aborted
 */
export async function runSteps<T>(
  steps: Generator<undefined, T, void>,
  signal: AbortSignal,
  sliceMs = SLICE_MS,
): Promise<T | null> {
  for (let since = performance.now();;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < sliceMs) continue;
    await nextTask();
    if (signal.aborted) return null;
    since = performance.now();
  }
}

/** Resolves in a task of its own, so that the browser may handle input and paint before it. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * The number of batches of a long list that are rendered by now: the first at once, each further one in a task of its own, so
 * that the page reacts in between.
 *
 * @param of what the list shows; another one begins with its first batch
 */
export function useBatches(total: number, of: unknown): number {
  const count: Signal<number> = useMemo(() => signal(Math.min(1, total)), [of, total]);
  useEffect(() => {
    let isOver = false;
    (async () => {
      for (let next = 2; next <= total; next++) {
        await nextTask();
        if (isOver) return;
        count.value = next;
      }
    })();
    return () => isOver = true;
  }, [count]);
  return count.value;
}
