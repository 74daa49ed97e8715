/** Time for requests under way to end after the stop signal, ms. */
const STOP_GRACE_MS = 4000;

/**
 * Time for cut requests to clean up, ms: an upload in parts that is not aborted stays in the store. Together with the grace
 * below 5 s, after which a process is expected to be gone.
 */
const STOP_TIDY_MS = 900;

/** Signals within this time count as one, ms: a terminal and a task runner each forward the same Ctrl-C. */
const SAME_SIGNAL_MS = 1000;

/** How often the parent process is checked, ms. */
const PARENT_CHECK_MS = 1000;

/** The time that is left of a stop. */
export interface StopTime {
  /** Until the requests under way are cut, ms; negative afterwards. */
  readonly untilCutMs: () => number;
  /** Until the process ends, whatever is not done by then, ms. */
  readonly untilEndMs: () => number;
}

/** The steps by which a process ends. */
interface Stop {
  /** Has proxies in front turn to other replicas; called only where there is a {@link Stop.delayMs}. */
  readonly announce: () => void;
  /** How long requests are served as before between {@link Stop.announce} and {@link Stop.finish}, ms. */
  readonly delayMs: number;
  /** Ends everything in its order, once the requests under way have ended. */
  readonly finish: (time: StopTime) => Promise<void>;
  /** Breaks off the requests under way. */
  readonly cut: () => void;
  /** Called last. */
  readonly last: () => void;
}

/**
 * Ends the process on SIGTERM, on Ctrl-C, when its terminal is closed, and when `parentGone` resolves. `finish` gets
 * {@link STOP_GRACE_MS}, then requests are cut and `finish` gets {@link STOP_TIDY_MS} more. The process ends with 0. A
 * later signal skips what is waited for: first the delay, then everything. Without its parent the process has no delay.
 *
 * @returns stops the process after a fault in a part of it, without a delay; it then ends with 1
 */
export function stopOnSignals({ announce, delayMs, finish, cut, last }: Stop, parentGone: Promise<void>): () => void {
  let signalledAtMs: number | null = null;
  let delay: ReturnType<typeof setTimeout> | undefined;
  let hasBegun = false;
  let exitCode = 0;
  const end = () => {
    last();
    Deno.exit(exitCode);
  };
  const begin = () => {
    if (hasBegun) return;
    hasBegun = true;
    signalledAtMs ??= performance.now();
    clearTimeout(delay);
    setTimeout(() => {
      cut();
      setTimeout(end, STOP_TIDY_MS);
    }, STOP_GRACE_MS);
    const cutAt = performance.now() + STOP_GRACE_MS;
    const untilCutMs = () => cutAt - performance.now();
    finish({ untilCutMs, untilEndMs: () => untilCutMs() + STOP_TIDY_MS }).then(end, end);
  };
  const signal = () => {
    const now = performance.now();
    if (signalledAtMs !== null && now - signalledAtMs <= SAME_SIGNAL_MS) return;
    const isFirst = signalledAtMs === null;
    signalledAtMs = now;
    if (hasBegun) return end();
    if (!isFirst || delayMs === 0) return begin();
    announce();
    delay = setTimeout(begin, delayMs);
  };
  Deno.addSignalListener("SIGTERM", signal);
  Deno.addSignalListener("SIGINT", signal);
  Deno.addSignalListener("SIGHUP", signal);
  parentGone.then(() => hasBegun ? signal() : begin());
  return () => {
    exitCode = 1;
    begin();
  };
}

/** Resolves when standard input ends: the launcher holds its other end and writes nothing. */
export async function standardInputEnded(): Promise<void> {
  try {
    for await (const _ of Deno.stdin.readable) { /* nothing is written */ }
  } catch {
    // A broken stream has ended as well.
  }
}

/**
 * Resolves when the process that started this one has ended, so that the system has assigned another parent. Never on
 * Windows, where a process keeps its parent's number.
 */
export function parentGone(): Promise<void> {
  const parent = Deno.ppid;
  return new Promise((resolve) => {
    const check = setInterval(() => {
      if (Deno.ppid === parent) return;
      clearInterval(check);
      resolve();
    }, PARENT_CHECK_MS);
    Deno.unrefTimer(check);
  });
}
