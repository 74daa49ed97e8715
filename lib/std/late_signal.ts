import { deadline } from "./deadline.ts";

/**
 * A signal, or the request of a client that has it. The runtime creates the signal of a request when it is first read, which
 * costs as much as routing the request, so that is left to what waits for something.
 */
export type LateSignal = AbortSignal | { readonly signal: AbortSignal };

/** How long the client of a request may have left unnoticed, ms: most have their response by then. */
const UNWATCHED_MS = 200;

/** The signal itself. */
export function signalOf(late: LateSignal): AbortSignal;
export function signalOf(late: LateSignal | undefined): AbortSignal | undefined;
export function signalOf(late: LateSignal | undefined): AbortSignal | undefined {
  return late instanceof AbortSignal ? late : late?.signal;
}

/**
 * Calls back when a signal aborts; for the request of a client, {@link UNWATCHED_MS} from now at the earliest.
 *
 * @returns a function that ends the watch
 */
export function whenAborted(late: LateSignal, onAbort: () => void): () => void {
  let watched: AbortSignal | null = null;
  const watch = () => {
    watched = signalOf(late);
    if (watched.aborted) onAbort();
    else watched.addEventListener("abort", onAbort, { once: true });
  };
  let stopWaiting = () => {};
  if (late instanceof AbortSignal) watch();
  else stopWaiting = deadline(UNWATCHED_MS, watch);
  return function endWatch() {
    stopWaiting();
    watched?.removeEventListener("abort", onAbort);
  };
}
