/** How long requests under way may take to end after the process was told to stop, in ms. */
export const STOP_GRACE_MS = 4000;

/** A terminal and a task runner each send Ctrl-C, so what follows within this time, in ms, is the same keystroke. */
const SAME_SIGNAL_MS = 1000;

/**
 * Ends the process on SIGTERM and on Ctrl-C: `finish` gets {@link STOP_GRACE_MS}, then `cut` runs whatever is left, and
 * the process ends with 0. A later signal does not wait.
 */
export function stopOnSignals(finish: () => Promise<void>, cut: () => void): void {
  let stoppingSinceMs: number | null = null;
  const end = () => {
    cut();
    Deno.exit(0);
  };
  const stop = () => {
    if (stoppingSinceMs !== null) {
      if (performance.now() - stoppingSinceMs > SAME_SIGNAL_MS) end();
      return;
    }
    stoppingSinceMs = performance.now();
    setTimeout(end, STOP_GRACE_MS);
    finish().then(end, end);
  };
  Deno.addSignalListener("SIGTERM", stop);
  Deno.addSignalListener("SIGINT", stop);
}
