/**
 * Serves the application where a host has the listener, the TLS and the end of the process: Deno Deploy, and others that
 * give a program neither a disk nor signals. It needs the network, its environment and its own files to read.
 */
import { openApplication } from "@/compose/application.ts";
import { openAudit } from "@/compose/audit.ts";
import { overloadGuard } from "@/compose/overload.ts";
import { ConfigError, readConfig } from "@/lib/config/mod.ts";
import { batchedLog, serving } from "@/lib/http/app.ts";
import { faultResponse, namesHost, noHostResponse } from "@/lib/process/connections.ts";
import { SessionKeyError } from "@/lib/auth/session_token.ts";
import { BuildError } from "@/lib/site/site.ts";
import { thenCancelBody } from "@/lib/std/body_reader.ts";
import { requireOwnSpans } from "@/lib/operations/tracing.ts";

const NO_SHARED_TASKS =
  "REDIS_URL: unset, background tasks and logouts are known to this process alone and end with it";

try {
  const config = readConfig({ EMBEDDED: "off", ...Deno.env.toObject() });
  if (config.embedded.store || config.embedded.cluster) {
    throw new ConfigError("EMBEDDED", "must be off where a host runs the process, which has no data folder");
  }
  if (config.server.metrics !== null) {
    throw new ConfigError("METRICS_PORT", "cannot be served where a host has the listener: unset it");
  }
  requireOwnSpans(Deno.env.toObject());
  for (const warning of config.warnings) console.error(warning);
  if (config.redisUrl === null) console.error(NO_SHARED_TASKS);
  const log = batchedLog();
  const audit = await openAudit(config, null, null, console.error, log);
  const application = await openApplication(
    config,
    { folder: null, store: null, cluster: null, audit, devAssets: null },
    log,
  );
  const served = overloadGuard(config.trustedHops, log).guard(serving(application.app));
  // The runtime chooses the address where the host tells it (DENO_SERVE_ADDRESS).
  const { host: hostname, port } = config.server;
  Deno.serve(
    { hostname, port, onError: faultResponse },
    (request, info) => thenCancelBody(request, () => namesHost(request) ? served(request, info) : noHostResponse()),
  );
  application.startTasks();
} catch (error) {
  const isExpected = [ConfigError, SessionKeyError, BuildError].some((expected) => error instanceof expected);
  if (!isExpected || !(error instanceof Error)) throw error;
  console.error(error.message);
  Deno.exit(1);
}
