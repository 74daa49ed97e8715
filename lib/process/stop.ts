/** How long requests under way may take to end after the process was told to stop, in ms. */
export const STOP_GRACE_MS = 4000;

/**
 * Ends the process on SIGTERM and on Ctrl-C: `finish` gets {@link STOP_GRACE_MS}, then `cut` runs whatever is left, and
 * the process ends with 0. A second signal does not wait.
 */
export function stopOnSignals(finish: () => Promise<void>, cut: () => void): void {
  let stopping = false;
  const end = () => {
    cut();
    Deno.exit(0);
  };
  const stop = () => {
    if (stopping) return end();
    stopping = true;
    setTimeout(end, STOP_GRACE_MS);
    finish().then(end, end);
  };
  Deno.addSignalListener("SIGTERM", stop);
  Deno.addSignalListener("SIGINT", stop);
}
