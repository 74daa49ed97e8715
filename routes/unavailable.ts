import { accessLog, type RequestLog } from "@/lib/http/access_log.ts";
import { type App, httpApp } from "@/lib/http/app.ts";
import { defaultHeaders } from "@/lib/http/default_headers.ts";
import { unavailable } from "@/lib/http/errors.ts";
import { PROBE_PATHS } from "./health.ts";

/** What is answered in the place of the application. */
interface UnavailableOptions {
  /** Why, in one sentence that callers read. */
  readonly detail: string;
  readonly retryAfterSeconds: number;
  /** How many proxies in front of this process are ours: the log names the client. */
  readonly trustedHops: number;
  readonly log: RequestLog;
}

/**
 * Answers every request with 503 while the application is not there: before its start is done, and once it is told to
 * stop. Request id, headers and log line are those of every other answer.
 */
export function unavailableApp({ detail, retryAfterSeconds, trustedHops, log }: UnavailableOptions): App {
  const app = httpApp({ log, trustedHops });
  app.use(defaultHeaders, accessLog(log, { silent: PROBE_PATHS }));
  app.all("*", () => {
    throw unavailable(detail, retryAfterSeconds);
  });
  return app;
}
