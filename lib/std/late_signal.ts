import { deadline } from "./deadline.ts";

/**
 * A signal, or the request of a client that has it. The runtime creates the signal of a request when it is first read, which
 * costs as much as routing the request, so that is left to what waits for something.
 */
export type LateSignal = AbortSignal | Unread;

/** What has a signal that has perhaps not been read. */
interface Unread {
  readonly signal: AbortSignal;
  /** When something first waited for it, by `performance.now`; null: nothing has. */
  waitedSince: number | null;
}

/** How long the client of a request may have left unnoticed, ms: most have their response by then. */
const UNWATCHED_MS = 200;

/**
 * The signal of a client's request, to be looked at late where that works: over HTTP/2 the runtime (Deno 2.9) reports
 * nothing to a signal that is created once the client has left. Such a request is known by having no `Host`, which clients
 * rarely send there.
 */
export function signalOfClient(request: Request): LateSignal {
  return request.headers.get("Host") === null ? request.signal : new UnreadSignal(request);
}

class UnreadSignal implements Unread {
  waitedSince: number | null = null;
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }
}

/** The signal itself. */
export function signalOf(late: LateSignal): AbortSignal;
export function signalOf(late: LateSignal | undefined): AbortSignal | undefined;
export function signalOf(late: LateSignal | undefined): AbortSignal | undefined {
  return late instanceof AbortSignal ? late : late?.signal;
}

/**
 * Calls back when a signal aborts; for the request of a client, {@link UNWATCHED_MS} from its first wait at the earliest.
 *
 * @param now by `performance.now`, from a caller that knows it
 * @returns a function that ends the watch
 */
export function whenAborted(late: LateSignal, onAbort: () => void, now: number = performance.now()): () => void {
  let watched: AbortSignal | null = null;
  const watch = () => {
    watched = signalOf(late);
    if (watched.aborted) onAbort();
    else watched.addEventListener("abort", onAbort, { once: true });
  };
  const leftMs = unwatchedMs(late, now);
  let stopWaiting = () => {};
  if (leftMs <= 0) watch();
  else stopWaiting = deadline(leftMs, watch, now);
  return function endWatch() {
    stopWaiting();
    watched?.removeEventListener("abort", onAbort);
  };
}

/** How long a signal is still not looked at, ms. A request may wait for one thing after the other, each of which is quick. */
function unwatchedMs(late: LateSignal, now: number): number {
  if (late instanceof AbortSignal) return 0;
  late.waitedSince ??= now;
  return UNWATCHED_MS - (now - late.waitedSince);
}
