import project from "@/deno.json" with { type: "json" };
import type { AuditTrail } from "@/lib/audit/audit_trail.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import type { MeasureRequest } from "@/lib/http/access_log.ts";
import type { MeasureUpstream } from "@/lib/http/upstream/upstream_request.ts";
import { defineMetrics, type Metrics } from "@/lib/metrics/metrics.ts";
import { processFigures } from "@/lib/metrics/process_figures.ts";
import { requestFigures } from "@/lib/metrics/request_figures.ts";
import type { MetricRegistry } from "@/lib/metrics/registry.ts";
import { type Service, upstreamFigures } from "@/lib/metrics/upstream_figures.ts";
import type { ConnectionFigures } from "@/lib/process/connections.ts";
import type { Notifier } from "@/lib/notifications/notifier.ts";
import type { DiskRoom } from "@/lib/process/disk_room.ts";
import type { ShedderFigures } from "@/lib/std/load_shedder.ts";
import { sizeIfExistsAsync } from "@/lib/std/optional_file.ts";
import { readWithin } from "@/lib/std/read_within.ts";
import type { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import type { ScheduleFigures } from "@/lib/tasks/fixity/schedules.ts";
import type { TaskFigures } from "@/lib/tasks/task_runner.ts";

/** The files of the embedded store's index, in the data folder. */
const INDEX_FILES = ["index.db", "index.db-wal"];
/** How long a scrape waits for their sizes, ms: the disk may hang. */
const FILES_MS = 5000;

/** A limit of requests that are handled at a time. */
interface Slots {
  readonly count: number;
  readonly max: number;
}

/** What of a process is read at each scrape; null: it has none. */
interface MetricSources {
  readonly tasks: (() => TaskFigures) | null;
  readonly campaigns: Pick<CampaignSource, "lastKnown"> | null;
  /** Of the data folder's disk. */
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

/** The metrics of this process, and what fills them. */
export interface ProcessMetrics {
  readonly registry: MetricRegistry;
  readonly measureRequest: MeasureRequest;
  readonly measureUpstream: (service: Service) => MeasureUpstream;
  /** Adds limits whose use is read at each scrape. */
  watchSlots(limit: string, slots: () => Slots): void;
  watch(sources: MetricSources): void;
  watchConnections(connections: () => ConnectionFigures | null): void;
  watchOverload(overload: () => ShedderFigures): void;
  /** Ends what runs for them. */
  close(): void;
}

/** Creates the metrics of a process. Its package is loaded with this module, so only where metrics are served. */
export function processMetrics(): ProcessMetrics {
  const metrics = defineMetrics();
  const { registry } = metrics;
  const close = processFigures(metrics, project.version);
  return {
    registry,
    measureRequest: requestFigures(metrics),
    measureUpstream: upstreamFigures(metrics),
    watchSlots(limit, slots) {
      registry.onScrape(() => {
        const { count, max } = slots();
        metrics.slots.set({ limit }, count);
        metrics.maxSlots.set({ limit }, max);
      });
    },
    watch: (sources) => watchSources(metrics, sources),
    watchConnections(connections) {
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
    watchOverload(overload) {
      registry.onScrape(() => {
        const figures = overload();
        metrics.overloaded.set({}, Number(figures.isShedding));
        metrics.refused.set({ reason: "overload" }, figures.refused);
      });
    },
    close,
  };
}

function watchSources(metrics: Metrics, sources: MetricSources): void {
  const { tasks, campaigns, disk, storeFolder, notifications, fixity, audit } = sources;
  const { registry } = metrics;
  if (audit) {
    registry.onScrape(() => {
      for (const [sink, { written, lost, waiting }] of audit()) {
        metrics.auditRecords.set({ sink, result: "written" }, written);
        metrics.auditRecords.set({ sink, result: "lost" }, lost);
        metrics.auditWaiting.set({ sink }, waiting);
      }
    });
  }
  if (tasks) {
    registry.onScrape(() => {
      const { running, maxRunning, waiting, ended, isStoreReachable } = tasks();
      metrics.tasksRunning.set({}, running);
      metrics.tasksMaxRunning.set({}, maxRunning);
      metrics.tasksWaiting.set({}, waiting);
      metrics.taskStoreReachable.set({}, Number(isStoreReachable));
      for (const [kind, byResult] of ended) {
        for (const [result, count] of Object.entries(byResult)) metrics.tasksEnded.set({ kind, result }, count);
      }
    });
  }
  if (fixity) {
    registry.onScrape(() => {
      const { objects, bytes } = fixity.figures;
      metrics.fixityBytes.set({}, bytes);
      for (const [result, count] of Object.entries(objects)) metrics.fixityObjects.set({ result }, count);
      for (const { name: schedule, succeededAt, isFailing } of fixity.schedules()) {
        metrics.fixityScheduleFailing.set({ schedule }, Number(isFailing));
        if (succeededAt !== null) metrics.fixityScheduleSuccess.set({ schedule }, succeededAt / 1000);
      }
    });
  }
  if (notifications) {
    registry.onScrape(() => {
      for (const [channel, figures] of notifications) {
        for (const [result, count] of Object.entries(figures)) metrics.notifications.set({ channel, result }, count);
      }
    });
  }
  if (campaigns) {
    registry.onScrape(() => {
      const age = campaigns.lastKnown();
      if (age === "untried") metrics.campaignsListed.clear();
      else metrics.campaignsListed.set({}, Number(age !== "failed"));
      if (typeof age === "number") metrics.campaignsAge.set({}, age / 1000);
      else metrics.campaignsAge.clear();
    });
  }
  if (disk) {
    registry.onScrape(async () => {
      const room = await disk.room();
      if (room === null) {
        for (const metric of [metrics.diskFree, metrics.diskSize, metrics.diskLow]) metric.clear();
        return;
      }
      metrics.diskFree.set({}, room.free);
      metrics.diskSize.set({}, room.total);
      metrics.diskLow.set({}, Number(await disk.isLow()));
    });
  }
  if (storeFolder !== null) {
    const indexBytes = readWithin(FILES_MS, async () => {
      let bytes = 0;
      for (const file of INDEX_FILES) bytes += await sizeIfExistsAsync(`${storeFolder}/${file}`) ?? 0;
      return bytes;
    });
    registry.onScrape(async () => {
      const bytes = await indexBytes();
      if (bytes === null) metrics.indexBytes.clear();
      else metrics.indexBytes.set({}, bytes);
    });
  }
}
