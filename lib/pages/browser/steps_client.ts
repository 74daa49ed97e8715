import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

/** Short enough that a reader notices nothing of it while leafing and scrolling. */
const SLICE_MS = 8;

/**
 * Runs all steps of a computation, with pauses in which the page handles input.
 *
 * @param sliceMs time between two pauses
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

/** Resolves in a new task, so that the browser can handle input and paint first. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * The number of batches of a long list to render: the first at once, each further one in a new task, so that the page stays
 * responsive.
 *
 * @param of identity of the list; a change restarts with the first batch
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
