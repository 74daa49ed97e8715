import { abort } from "node:process";
import { announcement } from "@/compose/announcement.ts";
import { openApplication } from "@/compose/application.ts";
import { openAudit } from "@/compose/audit.ts";
import { command, unknownArgument } from "@/compose/commands.ts";
import { endParts } from "@/compose/ending.ts";
import { overloadGuard } from "@/compose/overload.ts";
import { startSampleCluster } from "@/compose/sample_cluster.ts";
import { startStore } from "@/compose/sample_store.ts";
import { type Config, ConfigError, readConfig } from "@/lib/config/mod.ts";
import { batchedLog, serving } from "@/lib/http/app.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { leaving } from "@/lib/process/connections.ts";
import { listen, ListenError } from "@/lib/process/listener.ts";
import { parentGone, standardInputEnded, stopOnSignals } from "@/lib/process/stop.ts";
import { SessionKeyError } from "@/lib/auth/session_token.ts";
import { BuildError } from "@/lib/site/site.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { requireOwnSpans } from "@/lib/operations/tracing.ts";
import { PROBE_PATHS, unavailableApp } from "@/routes/health.ts";

/** Errors that end a start with one line; any other is a fault of ours and shows its stack. */
const EXPECTED = [ConfigError, DataFolderError, ListenError, SessionKeyError, BuildError];

/** Said where the runtime gives no hold on connections. */
const UNLIMITED_CONNECTIONS =
  "MAX_CONNECTIONS: this version of Deno gives no hold on connections, so their number and their timeouts are not limited: let a proxy in front do it (docs/operations.md)";

try {
  const unknown = unknownArgument(Deno.args);
  if (unknown !== undefined) {
    console.error(
      `Unknown argument '${unknown}': the commands are reset, verify, backup FOLDER [EARLIER], tasks [cancel ID] and user NAME`,
    );
    Deno.exit(2);
  }
  const [name, argument = "", second = null] = Deno.args;
  const found = command(name);
  if (!found) await start(readConfig(Deno.env.toObject()), Deno.args.includes("--dev"));
  else if (!(await found.run(argument, second))) Deno.exitCode = 1;
} catch (error) {
  if (!(error instanceof Error) || !EXPECTED.some((expected) => error instanceof expected)) throw error;
  fail(error.message);
}

/** Configuration, then the embedded parts, then the app for the roles, then its address; it runs until it is stopped. */
async function start(config: Config, dev: boolean): Promise<void> {
  requireOwnSpans(Deno.env.toObject());
  for (const warning of config.warnings) console.error(warning);
  const log = batchedLog();
  const hasFolder = config.embedded.store || config.embedded.cluster;
  const folder = hasFolder ? await DataFolder.openOnRelease(config.dataFolder) : null;
  for (const warning of folder?.warnings ?? []) console.error(warning);
  const { trustedHops } = config;
  const unavailable = (detail: string, retryAfterSeconds: number) =>
    serving(unavailableApp({ detail, retryAfterSeconds, trustedHops, log }));
  const stopping = unavailable("Stackroom is stopping", 5);
  const fallbacks = { starting: unavailable("Stackroom is starting", 1), stopping };
  const listener = listen(config.server, fallbacks);
  if (!listener.limitsConnections) console.error(UNLIMITED_CONNECTIONS);
  const { metrics } = config.server;
  const metricsListener = metrics &&
    listen({ ...metrics, portSetting: "METRICS_PORT", hostSetting: "METRICS_HOST" }, fallbacks);

  let stopAfterFault: (() => void) | null = null;
  const clusterFailed = (message: string) => {
    if (stopAfterFault === null) fail(message);
    console.error(message);
    stopAfterFault();
  };
  // All at once: loading their threads takes longer than what they do to start.
  const starting = folder && config.embedded.store ? startStore(config, folder, listener, fail) : null;
  const shown = config.web && !config.web.siteOnly ? config.web : null;
  const [store, audit, cluster, devAssets] = await Promise.all([
    starting,
    // The cluster's writes into the store wait for it.
    openAudit(config, folder, starting, console.error, log),
    folder && shown && config.embedded.cluster
      ? startSampleCluster(config, folder, starting, listener.origin, clusterFailed)
      : null,
    dev ? import("@/lib/site/build.ts").then(({ siteAssets }) => siteAssets({ dev })) : null,
  ]);

  const application = await openApplication(config, { folder, store, cluster, audit, devAssets }, log);
  const overload = overloadGuard(config.trustedHops, log);
  const served = overload.guard(serving(application.app));
  listener.answerWith(served);
  if (metrics && metricsListener && application.metrics) {
    application.metrics.watchConnections(listener.connections);
    application.metrics.watchOverload(overload.figures);
    metricsListener.answerWith(serving(application.metrics.app(metrics.allowedHosts, log)));
  }
  application.startTasks();

  const isLaunched = Deno.args.includes("--launched");
  if (dev) {
    // A watcher starts the process again by itself, and a signal handler would keep it alive behind the watcher's back.
    // It goes on after an exit, too, and each of its starts would leave a thread behind that reads standard input.
    if (isLaunched) parentGone().then(abort);
  } else {
    stopAfterFault = stopOnSignals({
      delayMs: config.server.stopDelayMs,
      announce: () => listener.answerWith(leaving(served, { isProbe: (path) => PROBE_PATHS.has(path), stopping })),
      finish: (time) => endParts({ listener, metricsListener, application, cluster, store }, time),
      cut() {
        listener.cut();
        metricsListener?.cut();
      },
      last: () => log.flush(),
    }, isLaunched ? standardInputEnded() : new Promise(() => {}));
  }
  const metricsOrigin = metricsListener?.origin ?? null;
  console.log(announcement(config, { origin: listener.origin, hasStore: store !== null, cluster, metricsOrigin }));
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
