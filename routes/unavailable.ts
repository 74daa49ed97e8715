import { accessLog, type RequestLog } from "@/lib/http/access_log.ts";
import { type App, httpApp } from "@/lib/http/app.ts";
import { defaultHeaders } from "@/lib/http/default_headers.ts";
import { unavailable } from "@/lib/http/errors.ts";
import { PROBE_PATHS } from "./health.ts";

/** The response in place of those of the application. */
interface UnavailableOptions {
  /** Why, in one sentence that callers read. */
  readonly detail: string;
  readonly retryAfterSeconds: number;
  /** How many proxies in front of this process are ours: the log names the client. */
  readonly trustedHops: number;
  readonly log: RequestLog;
}

/**
 * Returns 503 for every request while there is no application: before its start is done, and once it stops. Request id,
 * headers and log line are those of every other response.
 */
export function unavailableApp({ detail, retryAfterSeconds, trustedHops, log }: UnavailableOptions): App {
  const app = httpApp({ log, trustedHops });
  app.use(defaultHeaders, accessLog(log, { silent: PROBE_PATHS }));
  app.all("*", () => {
    throw unavailable(detail, retryAfterSeconds);
  });
  return app;
}
