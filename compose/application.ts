import type { Config } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { endsWithin } from "@/lib/std/body_reader.ts";
import type { Assets } from "@/lib/site/site.ts";
import { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { tracing } from "@/lib/operations/tracing.ts";
import { buildApp } from "./app.ts";
import { inProcessResults, resultsRole } from "@/routes/results.ts";
import type { Audit } from "./audit.ts";
import type { ClusterHandle } from "./sample_cluster.ts";
import { gatewayDeps, tokenSecrets } from "./gateway.ts";
import { resultsDeps, warnOfDerivation } from "./results.ts";
import type { EmbeddedStore } from "./sample_store.ts";
import { credentialMemory, type ObserveUpstream } from "./shared.ts";
import { openTasks } from "./tasks.ts";
import { webRole } from "./web.ts";

/** How long a stop waits for the schedules before it releases the tasks, which takes 3 s of the 4 s there are, ms. */
const SCHEDULES_STOP_MS = 500;

/** The parts of the machine that an application uses. Here and below null means none. */
interface Machine {
  readonly folder: DataFolder | null;
  readonly store: EmbeddedStore | null;
  readonly cluster: ClusterHandle | null;
  readonly audit: Audit | null;
  /** The site as built for development; null: that of the last build. */
  readonly devAssets: Assets | null;
}

export type Application = Awaited<ReturnType<typeof openApplication>>;

/**
 * Puts the roles of a process together.
 *
 * @throws {ConfigError}
 * @throws {SessionKeyError}
 * @throws {DataFolderError}
 * @throws {BuildError}
 */
export async function openApplication(
  config: Config,
  { folder, store, cluster, audit, devAssets }: Machine,
  log: RequestLog,
) {
  // Loaded only where metrics are served.
  const metrics = config.server.metrics && (await import("./measured_parts.ts")).processMetrics();
  const traces = tracing();
  const observe: ObserveUpstream = (service) => ({
    measure: metrics?.measureUpstream(service),
    trace: traces?.upstream(service),
  });
  // Loaded only where there are receivers.
  const notifications = config.notifications &&
    await (await import("@/compose/notifications.ts")).openNotifications(config, config.notifications, folder, log);
  // Loaded only where there are replicas: the package for Redis makes a start slower.
  const replicas = config.redisUrl === null
    ? null
    : (await import("@/compose/replication.ts")).replication(config, config.redisUrl, folder, log);
  const tasks = config.gateway &&
    await openTasks(config, tokenSecrets(config.gateway, folder)[0], folder, console.error);
  const memory = credentialMemory(replicas?.share);
  const revocations = replicas?.revocations ?? null;
  const fromStore = config.results &&
    resultsDeps(config, config.results, store, folder, memory, log, revocations, observe, audit?.logins ?? null);
  if (fromStore && config.results?.store) warnOfDerivation(fromStore, console.error);
  const results = fromStore && resultsRole(fromStore);
  const web = config.web &&
    await webRole(config, config.web, {
      results: results && inProcessResults(results),
      cluster,
      hasStore: store !== null,
      folder,
      revoked: fromStore?.revoked ?? null,
      shared: revocations,
      devAssets,
      log,
      observe,
    });
  const figures = new FixityFigures();
  const gateway = config.gateway && tasks && await gatewayDeps(config.gateway, {
    config,
    store,
    folder,
    memory,
    tasks: tasks.store,
    log,
    observe,
    fixity: { figures, report: notifications && notifications.fixityEnded },
    recorder: audit?.recorder ?? null,
  });
  const room = folder && new DiskRoom(folder.path, console.error);
  const app = buildApp({
    gateway,
    web: web && web.deps,
    results: config.web ? null : results,
    resultsTrustedHops: config.results?.trustedHops,
    resultsStore: fromStore?.store ?? null,
    diskIsFull: store && (() => store.isFull()),
    ...(room && { diskIsLow: () => room.isLow() }),
    sharedState: tasks?.isReachable ?? null,
    trustedHops: config.trustedHops,
    allowedHosts: config.server.allowedHosts,
    maxRequests: config.maxRequests,
    audit,
    measure: metrics ? { request: metrics.measureRequest, slots: metrics.watchSlots } : null,
    trace: traces?.middleware ?? null,
    log,
    now: Date.now,
  });
  const endWatch = room?.watch();
  await replicas?.start(memory.guesses, fromStore?.revoked ?? web?.deps.storage?.revoked ?? null);
  metrics?.watch({
    tasks: gateway && (() => gateway.tasks.figures),
    campaigns: web?.deps.campaigns?.source ?? null,
    disk: room,
    storeFolder: store && folder ? folder.path : null,
    notifications: notifications?.figures ?? null,
    fixity: gateway && { figures, schedules: () => gateway.schedules?.figures ?? [] },
    audit: audit && (() => audit.recorder.figures),
  });
  return {
    app,
    /** Null where none are served. */
    metrics,
    /** Goes on with background tasks and notifications. */
    startTasks() {
      gateway?.tasks.start();
      gateway?.schedules?.start();
      notifications?.start({
        campaigns: web?.deps.campaigns?.source ?? null,
        disk: room,
        diskIsFull: store && (() => store.isFull()),
      });
    },
    /** Releases background tasks and notifications within `leftMs()`, so that another process goes on with them. */
    async stopTasks(leftMs: () => number) {
      if (gateway?.schedules) await endsWithin(SCHEDULES_STOP_MS, gateway.schedules.stop());
      await gateway?.tasks.stop();
      // Behind the tasks, which may end with a report.
      if (notifications) await endsWithin(leftMs(), notifications.stop(leftMs()));
    },
    /** Shortens the audit waits of requests at shutdown. */
    hurryTrail: () => audit?.recorder.hurry(),
    /** Writes and sends the rest of the audit trail, for so many ms at most. */
    async closeTrail(ms: number) {
      await audit?.close(ms);
    },
    /** Closes what the roles have open, once requests and tasks have ended. */
    async close() {
      endWatch?.();
      metrics?.close();
      await gateway?.tasks.store.close();
      await web?.close();
      await replicas?.close();
    },
  };
}
