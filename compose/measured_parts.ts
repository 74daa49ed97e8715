import project from "@/deno.json" with { type: "json" };
import type { AuditTrail } from "@/lib/operations/audit/audit_trail.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { type App, defaultHeaders, hostCheck, httpApp, type RequestLog, routesOf } from "@/lib/http/app.ts";
import { processFigures, requestFigures, upstreamFigures } from "@/lib/operations/metrics/request_metrics.ts";
import { defineMetrics, type Metrics } from "@/lib/operations/metrics/metric_table.ts";
import type { ConnectionFigures, ShedderFigures } from "@/lib/process/connections.ts";
import type { Notifier } from "@/lib/operations/notifications/notifier.ts";
import type { DiskRoom } from "@/lib/process/disk_room.ts";
import { sizeIfExistsAsync } from "@/lib/std/files.ts";
import { readWithin } from "@/lib/std/timing.ts";
import type { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import type { ScheduleFigures } from "@/lib/tasks/fixity/schedules.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";

/** The files of the embedded store's index, in the data folder. */
const INDEX_FILES = ["index.db", "index.db-wal"];
/** How long a scrape waits for their sizes, ms: the disk may hang. */
const FILES_MS = 5000;

/** The parts of a process that are read at each scrape; null: it has none. */
interface MetricSources {
  readonly tasks: (() => TaskRunner["figures"]) | null;
  readonly campaigns: Pick<CampaignSource, "lastKnown"> | null;
  /** The disk of the data folder. */
  readonly disk: DiskRoom | null;
  /** The data folder, where the embedded store is in it. */
  readonly storeFolder: string | null;
  readonly notifications: Notifier["figures"] | null;
  readonly fixity: {
    readonly figures: FixityFigures;
    readonly schedules: () => readonly ScheduleFigures[];
  } | null;
  readonly audit: (() => AuditTrail["figures"]) | null;
}

/** Creates the metrics of a process. Its package is loaded with this module, so only where metrics are served. */
export function processMetrics() {
  const metrics = defineMetrics();
  const { registry } = metrics;
  return {
    registry,
    measureRequest: requestFigures(metrics),
    measureUpstream: upstreamFigures(metrics),
    /** Adds limits of requests at a time, whose use is read at each scrape. */
    watchSlots(limit: string, slots: () => { readonly count: number; readonly max: number }) {
      registry.onScrape(() => {
        const { count, max } = slots();
        metrics.slots.set({ limit }, count);
        metrics.maxSlots.set({ limit }, max);
      });
    },
    watch: (sources: MetricSources) => watchSources(metrics, sources),
    watchConnections(connections: () => ConnectionFigures | null) {
      registry.onScrape(() => {
        const figures = connections();
        if (figures === null) return;
        metrics.connections.set({}, figures.open);
        metrics.maxConnections.set({}, figures.max);
        for (const limit of ["all", "address"] as const) {
          metrics.refusedConnections.set({ limit }, figures.refused[limit]);
        }
      });
    },
    watchOverload(overload: () => ShedderFigures) {
      registry.onScrape(() => {
        const figures = overload();
        metrics.overloaded.set({}, Number(figures.isShedding));
        metrics.refused.set({ reason: "overload" }, figures.refused);
      });
    },
    /**
     * The app of the port for metrics: `GET /metrics` and nothing else. Its requests are not logged, since they come often.
     *
     * @param allowedHosts names by which the server is called; null: any
     */
    app(allowedHosts: readonly string[] | null, log: RequestLog): App {
      const app = httpApp({ log });
      app.use(defaultHeaders);
      if (allowedHosts) app.use(hostCheck(allowedHosts));
      routesOf(app)("/metrics", async (context) => {
        context.mustRead();
        const text = await registry.text();
        return new Response(text, { headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store" } });
      });
      return app;
    },
    /** Ends what runs for them. */
    close: processFigures(metrics, project.version),
  };
}

function watchSources(metrics: Metrics, sources: MetricSources): void {
  function watch<Source>(source: Source | null, read: (source: Source) => void | Promise<void>): void {
    if (source !== null) metrics.registry.onScrape(() => read(source));
  }
  watch(sources.audit, (figures) => {
    for (const [sink, { written, lost, waiting }] of figures()) {
      metrics.auditRecords.set({ sink, result: "written" }, written);
      metrics.auditRecords.set({ sink, result: "lost" }, lost);
      metrics.auditWaiting.set({ sink }, waiting);
    }
  });
  watch(sources.tasks, (figures) => {
    const { running, maxRunning, waiting, ended, isStoreReachable } = figures();
    metrics.tasksRunning.set({}, running);
    metrics.tasksMaxRunning.set({}, maxRunning);
    metrics.tasksWaiting.set({}, waiting);
    metrics.taskStoreReachable.set({}, Number(isStoreReachable));
    for (const [kind, byResult] of ended) {
      for (const [result, count] of Object.entries(byResult)) metrics.tasksEnded.set({ kind, result }, count);
    }
  });
  watch(sources.fixity, ({ figures: { objects, bytes }, schedules }) => {
    metrics.fixityBytes.set({}, bytes);
    for (const [result, count] of Object.entries(objects)) metrics.fixityObjects.set({ result }, count);
    for (const { name: schedule, succeededAt, isFailing } of schedules()) {
      metrics.fixityScheduleFailing.set({ schedule }, Number(isFailing));
      if (succeededAt !== null) metrics.fixityScheduleSuccess.set({ schedule }, succeededAt / 1000);
    }
  });
  watch(sources.notifications, (channels) => {
    for (const [channel, figures] of channels) {
      for (const [result, count] of Object.entries(figures)) metrics.notifications.set({ channel, result }, count);
    }
  });
  watch(sources.campaigns, (campaigns) => {
    const age = campaigns.lastKnown();
    metrics.campaignsListed.set({}, Number(age !== null));
    if (age === null) metrics.campaignsAge.clear();
    else metrics.campaignsAge.set({}, age / 1000);
  });
  watch(sources.disk, async (disk) => {
    const room = await disk.room();
    if (room === null) {
      for (const metric of [metrics.diskFree, metrics.diskSize, metrics.diskLow]) metric.clear();
      return;
    }
    metrics.diskFree.set({}, room.free);
    metrics.diskSize.set({}, room.total);
    metrics.diskLow.set({}, Number(await disk.isLow()));
  });
  watch(sources.storeFolder === null ? null : indexBytesIn(sources.storeFolder), async (indexBytes) => {
    const bytes = await indexBytes();
    if (bytes === null) metrics.indexBytes.clear();
    else metrics.indexBytes.set({}, bytes);
  });
}

/** Returns what reads how long the files of the index in a folder are, bytes; null while the disk does not say. */
function indexBytesIn(folder: string): () => Promise<number | null> {
  return readWithin(FILES_MS, async () => {
    let bytes = 0;
    for (const file of INDEX_FILES) bytes += await sizeIfExistsAsync(`${folder}/${file}`) ?? 0;
    return bytes;
  });
}
