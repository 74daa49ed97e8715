import type { EmbeddedStore } from "@/embedded/store/server/embedded_store.ts";
import type { Config, NotificationsConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { App } from "@/lib/http/app.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { endsWithin } from "@/lib/std/ends_within.ts";
import { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { tracing } from "@/lib/tracing/tracing.ts";
import { buildApp } from "@/routes/mod.ts";
import { inProcessResults, resultsRole } from "@/routes/results/mod.ts";
import type { Audit } from "./audit.ts";
import type { ClusterHandle } from "./cluster.ts";
import { gatewayDeps, tokenSecret } from "./gateway.ts";
import type { ProcessMetrics } from "./metrics.ts";
import type { Notifications } from "./notifications.ts";
import { resultsDeps, warnOfDerivation } from "./results.ts";
import { credentialMemory, type ObserveUpstream } from "./shared.ts";
import { openTasks } from "./tasks.ts";
import { webRole } from "./web.ts";

/** How long a stop waits for the schedules before it releases the tasks, which takes 3 s of the 4 s there are, ms. */
const SCHEDULES_STOP_MS = 500;

/** What an application uses of the machine. Here and below null means none. */
interface Machine {
  readonly folder: DataFolder | null;
  readonly store: EmbeddedStore | null;
  readonly cluster: ClusterHandle | null;
  readonly audit: Audit | null;
  /** Pages load themselves again when the server starts again. */
  readonly dev: boolean;
}

/** The roles of a process, ready for requests. */
interface Application {
  readonly app: App;
  /** Null where none are served. */
  readonly metrics: ProcessMetrics | null;
  /** Goes on with background tasks and notifications. */
  startTasks(): void;
  /** Releases background tasks and notifications within `leftMs()`, so that another process goes on with them. */
  stopTasks(leftMs: () => number): Promise<void>;
  /** Has requests that wait for a disk of the audit trail answered soon. */
  hurryTrail(): void;
  /** Writes and sends the rest of the audit trail, for so many ms at most. */
  closeTrail(ms: number): Promise<void>;
  /** Closes what the roles have open, once requests and tasks have ended. */
  close(): Promise<void>;
}

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
  { folder, store, cluster, audit, dev }: Machine,
  log: RequestLog,
): Promise<Application> {
  const metrics = config.server.metrics === null ? null : await loadMetrics();
  const traces = tracing();
  const observe: ObserveUpstream = (service) => ({
    measure: metrics?.measureUpstream(service),
    trace: traces?.upstream(service),
  });
  const notifications = config.notifications && await loadNotifications(config, config.notifications, folder, log);
  const replicas = config.redisUrl === null ? null : await replicated(config, config.redisUrl, folder, log);
  const tasks = config.gateway &&
    await openTasks(config, tokenSecret(config.gateway, folder), folder, console.error);
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
      dev,
      log,
      observe,
    });
  const fixity = new FixityFigures();
  const gateway = config.gateway && tasks &&
    await gatewayDeps(config, config.gateway, store, folder, memory, tasks.store, log, observe, {
      figures: fixity,
      report: notifications && notifications.fixityEnded,
    }, audit?.recorder ?? null);
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
    fixity: gateway && { figures: fixity, schedules: () => gateway.schedules?.figures ?? [] },
    audit: audit && (() => audit.recorder.figures),
  });
  return {
    app,
    metrics,
    startTasks() {
      gateway?.tasks.start();
      gateway?.schedules?.start();
      notifications?.start({
        campaigns: web?.deps.campaigns?.source ?? null,
        disk: room,
        diskIsFull: store && (() => store.isFull()),
      });
    },
    async stopTasks(leftMs) {
      if (gateway?.schedules) await endsWithin(SCHEDULES_STOP_MS, gateway.schedules.stop());
      await gateway?.tasks.stop();
      // Behind the tasks, which may end with a report.
      if (notifications) await endsWithin(leftMs(), notifications.stop(leftMs()));
    },
    hurryTrail: () => audit?.recorder.hurry(),
    async closeTrail(ms) {
      await audit?.close(ms);
    },
    async close() {
      endWatch?.();
      metrics?.close();
      await gateway?.tasks.store.close();
      await web?.close();
      await replicas?.close();
    },
  };
}

/** Loaded only where metrics are served. */
async function loadMetrics(): Promise<ProcessMetrics> {
  const { processMetrics } = await import("@/compose/metrics.ts");
  return processMetrics();
}

/** Loaded only where there are receivers. */
async function loadNotifications(
  config: Config,
  settings: NotificationsConfig,
  folder: DataFolder | null,
  log: RequestLog,
): Promise<Notifications> {
  const { openNotifications } = await import("@/compose/notifications.ts");
  return openNotifications(config, settings, folder, log);
}

/** Loaded only where there are replicas: the package for Redis makes a start slower. */
async function replicated(config: Config, url: string, folder: DataFolder | null, log: RequestLog) {
  const { replication } = await import("@/compose/replication.ts");
  return replication(config, url, folder, log);
}
