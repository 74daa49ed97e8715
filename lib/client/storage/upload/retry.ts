import type { Clock } from "@/lib/client/poller.ts";
import type { Connection } from "./connection.ts";
import { asFault } from "./upload_fault.ts";
import { backoffMs, wait } from "./upload_wait.ts";

/** Repeats a step after failures that pass. @throws UploadFault, or the signal's reason */
export type Retry = <Result>(signal: AbortSignal, step: () => Promise<Result>) => Promise<Result>;

/** Tries of a step before its file fails. */
const MAX_TRIES = 7;
/** Tries of a presigned request that the store calls forbidden: its clock may be ahead of ours. */
const MAX_FORBIDDEN = 2;

/**
 * Creates a {@linkcode Retry}. What is lost while the network is away counts as no try.
 *
 * @param random 0 to 1
 */
export function retrying(
  connection: Connection,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
): Retry {
  return async function retry(signal, step) {
    for (let failures = 0, forbidden = 0;;) {
      try {
        return await step();
      } catch (error) {
        signal.throwIfAborted();
        const fault = asFault(error);
        if (fault.kind === "lost" && await connection.wasLost(signal)) continue;
        const isRetried = fault.isTransient
          ? ++failures < MAX_TRIES
          : fault.kind === "forbidden" && ++forbidden < MAX_FORBIDDEN;
        if (!isRetried) throw fault;
        const ms = Math.max(fault.retryAfterMs ?? 0, backoffMs(failures + forbidden, random()));
        await wait(clock, ms, signal);
      }
    }
  };
}
