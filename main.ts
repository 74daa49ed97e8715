import { abort } from "node:process";
import { announcement } from "@/compose/announcement.ts";
import { command } from "@/compose/commands.ts";
import { gatewayDeps, tokenSecret } from "@/compose/gateway.ts";
import { resultsDeps } from "@/compose/results.ts";
import { startSampleCluster } from "@/compose/sample_cluster.ts";
import { credentialMemory } from "@/compose/shared.ts";
import { startStore } from "@/compose/store.ts";
import { openTasks } from "@/compose/tasks.ts";
import { webRole } from "@/compose/web.ts";
import { type Config, ConfigError, readConfig } from "@/lib/config/mod.ts";
import { batchedLog, type RequestLog } from "@/lib/http/access_log.ts";
import { serving } from "@/lib/http/app.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { listen, ListenError } from "@/lib/process/listener.ts";
import { parentGone, standardInputEnded, stopOnSignals } from "@/lib/process/stop.ts";
import { SessionKeyError } from "@/lib/results/session_key.ts";
import { BuildError } from "@/lib/site/built_site.ts";
import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { buildApp } from "@/routes/mod.ts";
import { inProcessResults, resultsRole } from "@/routes/results/mod.ts";
import { unavailableApp } from "@/routes/unavailable.ts";

/** What ends a start with one line; anything else is a fault of ours and shows its stack. */
const EXPECTED = [ConfigError, DataFolderError, ListenError, SessionKeyError, BuildError];

/** Of a runtime whose connections cannot be held. */
const UNLIMITED_CONNECTIONS =
  "MAX_CONNECTIONS: this version of Deno gives no hold on connections, so their number and their timeouts are not limited: let a proxy in front do it (docs/operations.md)";

try {
  const [name, argument = "", second = null] = Deno.args;
  const run = command(name);
  if (!run) await start(readConfig(Deno.env.toObject()), Deno.args.includes("--dev"));
  else if (!(await run(argument, second))) Deno.exitCode = 1;
} catch (error) {
  if (!(error instanceof Error) || !EXPECTED.some((expected) => error instanceof expected)) throw error;
  fail(error.message);
}

/** Configuration, then the embedded parts, then the app for the roles, then its address; it runs until it is stopped. */
async function start(config: Config, dev: boolean): Promise<void> {
  for (const warning of config.warnings) console.error(warning);
  const log = batchedLog((text) => Deno.stderr.writeSync(new TextEncoder().encode(text)));
  const hasFolder = config.embedded.store || config.embedded.cluster;
  const folder = hasFolder ? await DataFolder.openOnRelease(config.dataFolder) : null;
  for (const warning of folder?.warnings ?? []) console.error(warning);
  const { trustedHops } = config;
  const starting = unavailableApp({ detail: "Stackroom is starting", retryAfterSeconds: 1, trustedHops, log });
  const stopping = unavailableApp({ detail: "Stackroom is stopping", retryAfterSeconds: 5, trustedHops, log });
  const listener = listen(config.server, { starting: serving(starting), stopping: serving(stopping) });
  if (!listener.limitsConnections) console.error(UNLIMITED_CONNECTIONS);

  let stopAfterFault: (() => void) | null = null;
  const clusterFailed = (message: string) => {
    if (stopAfterFault === null) fail(message);
    console.error(message);
    stopAfterFault();
  };
  const store = folder && config.embedded.store ? await startStore(config, folder, listener, fail) : null;
  const shown = config.web && !config.web.siteOnly ? config.web : null;
  const cluster = folder && shown && config.embedded.cluster
    ? await startSampleCluster(config, folder, store, listener.origin, clusterFailed)
    : null;

  const replicas = config.redisUrl === null ? null : await replicated(config, config.redisUrl, folder, log);
  const tasks = config.gateway &&
    await openTasks(config, tokenSecret(config.gateway, folder), folder, console.error);
  const memory = credentialMemory(replicas?.share);
  const revocations = replicas?.revocations ?? null;
  const fromStore = config.results && resultsDeps(config, config.results, store, folder, memory, log, revocations);
  const results = fromStore && resultsRole(fromStore);
  const web = config.web &&
    await webRole(config, config.web, {
      results: results && inProcessResults(results),
      cluster,
      hasStore: store !== null,
      folder,
      revoked: fromStore?.revoked ?? null,
      shared: revocations,
      dev,
      log,
    });
  const gateway = config.gateway && tasks &&
    gatewayDeps(config, config.gateway, store, folder, memory, tasks.store, log);
  const app = buildApp({
    gateway,
    web: web && web.deps,
    results: config.web ? null : results,
    resultsTrustedHops: config.results?.trustedHops,
    resultsStore: fromStore?.store ?? null,
    diskIsFull: store && (() => store.isFull()),
    sharedState: tasks?.isReachable ?? null,
    trustedHops,
    allowedHosts: config.server.allowedHosts,
    maxRequests: config.maxRequests,
    log,
    now: Date.now,
  });
  await replicas?.start(memory.guesses, fromStore?.revoked ?? web?.deps.storage?.revoked ?? null);
  listener.answerWith(serving(app));
  gateway?.tasks.start();

  const isLaunched = Deno.args.includes("--launched");
  if (dev) {
    // A watcher starts the process again by itself, and a signal handler would keep it alive behind the watcher's back.
    // It goes on after an exit, too, and each of its starts would leave a thread behind that reads standard input.
    if (isLaunched) parentGone().then(abort);
  } else {
    stopAfterFault = stopOnSignals({
      async finish() {
        // Beside the requests, which may take all of the time: the leases must be released within it.
        await Promise.all([listener.drain(), gateway?.tasks.stop()]);
        await gateway?.tasks.store.close();
        await web?.close();
        await replicas?.close();
        await cluster?.stop();
        await store?.stop();
      },
      cut: () => listener.cut(),
      last: () => log.flush(),
    }, isLaunched ? standardInputEnded() : new Promise(() => {}));
  }
  console.log(announcement(config, { origin: listener.origin, hasStore: store !== null, cluster }));
}

/** Loaded only where there are replicas: the package for Redis makes a start slower. */
async function replicated(config: Config, url: string, folder: DataFolder | null, log: RequestLog) {
  const { replication } = await import("@/compose/replication.ts");
  return replication(config, url, folder, log);
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
