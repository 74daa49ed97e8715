import type { RequestLog } from "@/lib/http/app.ts";
import { type Handler, LoadShedder, shedLoad } from "@/lib/process/connections.ts";
import { atMostEvery } from "@/lib/std/timing.ts";
import { PROBE_PATHS } from "@/routes/health.ts";

/** An overload is reported so often at most, ms. */
const REPORT_EVERY_MS = 60_000;

/** Creates the guard of a process, which logs the start and the end of an overload. */
export function overloadGuard(trustedHops: number, log: RequestLog) {
  const mayReport = atMostEvery(REPORT_EVERY_MS);
  let isReported = false;
  const shedder = new LoadShedder({
    onChange(isShedding, refused) {
      if (isShedding) {
        isReported = mayReport();
        if (isReported) log.write({ level: "warn", message: "overload: some requests get 503 from now on" });
      } else if (isReported) {
        log.write({ level: "warn", message: `overload: it is over, ${refused} requests got 503` });
      }
    },
  });
  return {
    /** Handles what `handler` would, but for what is refused. */
    guard: (handler: Handler): Handler => shedLoad(handler, { shedder, always: PROBE_PATHS, trustedHops }),
    figures: () => shedder.figures,
  };
}
