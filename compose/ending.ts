import type { Application } from "./application.ts";
import type { StopTime } from "@/lib/process/stop.ts";
import { endsWithin } from "@/lib/std/body_reader.ts";

/** The least time that the audit trail has at a stop, ms: requests and tasks that take longer lose their records. */
const TRAIL_MS = 600;
/** The rest of that for its last lines, and for what is closed after it, ms. */
const MARGIN_MS = 300;

/** The parts that a stop ends. */
interface EndingParts {
  readonly listener: { drain(): Promise<void> };
  readonly metricsListener: { drain(): Promise<void> } | null;
  readonly application: Pick<Application, "stopTasks" | "hurryTrail" | "closeTrail" | "close">;
  readonly cluster: { stop(): Promise<void> } | null;
  readonly store: { drain(): Promise<void>; stop(): Promise<void> } | null;
}

/**
 * Ends the parts of a process in their order. Each has what those before it left of the time of the stop, so that the
 * audit trail names what it cannot write before the process ends, also where a request, a task or a disk hangs.
 */
export async function endParts(
  { listener, metricsListener, application, cluster, store }: EndingParts,
  { untilCutMs, untilEndMs }: StopTime,
): Promise<void> {
  application.hurryTrail();
  // Beside the requests, which may take all of the time: the leases must be released within it.
  const requests = Promise.allSettled([listener.drain(), application.stopTasks(untilCutMs)]);
  // Changes by clients of the store are recorded as well.
  const ended = requests.then(() => cluster?.stop()).then(() => store?.drain());
  await endsWithin(untilEndMs() - TRAIL_MS, ended);
  await application.closeTrail(untilEndMs() - MARGIN_MS);
  // Requests that were cut may tidy up after themselves until the end.
  await ended;
  await metricsListener?.drain();
  await application.close();
  await store?.stop();
}
