/** Short enough that a reader notices nothing of it while leafing and scrolling. */
const SLICE_MS = 8;

/**
 * Runs the steps of a computation to their end and lets the page react in between.
 *
 * @param sliceMs how long they run on without that
 * @throws the signal's reason once it is aborted
 */
export async function runSteps<T>(
  steps: Generator<undefined, T, void>,
  signal: AbortSignal,
  sliceMs = SLICE_MS,
): Promise<T> {
  for (let since = performance.now();;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < sliceMs) continue;
    await nextTask();
    signal.throwIfAborted();
    since = performance.now();
  }
}

/** Resolves in a task of its own, so that the browser may handle input and paint before it. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
