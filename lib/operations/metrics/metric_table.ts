import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Upper bounds of the time to a response's headers, s: a HEAD takes a millisecond, an upload as long as its body. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Upper bounds of the delays of a timer, s. */
const LAG_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Values of the labels for a status, by its first digit. */
export const STATUS_CLASSES = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"];

export type Metrics = ReturnType<typeof defineMetrics>;

/**
 * Every metric of the application. The values of labels are names of this code alone: never a key, a bucket, a user, a
 * tenant, a path or a method that a client sent. Names of schedules are the operator's.
 */
export function defineMetrics() {
  const registry = metricRegistry();
  const { counter, gauge } = registry;
  return {
    registry,
    buildInfo: gauge("build_info", "Always 1; the label is the version that runs.", ["version"]),

    requests: counter(
      "http_requests_total",
      "Requests whose response headers are known. role is none where no role handles the path, operation is none where no operation does; status is the class of the status.",
      ["role", "operation", "status"],
    ),
    requestSeconds: registry.histogram(
      "http_request_duration_seconds",
      "Time from a request to the headers of its response. The body of an upload counts, that of a download does not.",
      ["role", "operation"],
      REQUEST_SECONDS,
    ),
    receivedBytes: counter(
      "http_request_body_bytes_total",
      "Bytes of the bodies of requests that succeeded (2xx), as their Content-Length announces them. Bodies without one are not counted.",
      ["role"],
    ),
    sentBytes: counter(
      "http_response_body_bytes_total",
      "Bytes of response bodies, as their Content-Length announces them: objects, files and long lists. Short JSON and generated archives without a length are not counted, and a download that breaks off counts whole.",
      ["role"],
    ),
    admitted: counter(
      "admissions_total",
      "Requests with a bearer token by whether the store had accepted its credentials within the last minute: proven or unproven.",
      ["credentials"],
    ),
    refused: counter(
      "refusals_total",
      "Requests that were turned away because of a limit, by the limit. Those of an overload are counted here alone.",
      ["reason"],
    ),
    overloaded: gauge("overloaded", "1 while requests are turned away because the event loop is late, else 0."),
    slots: gauge("slots_in_use", "Requests that are handled now, by the limit that they count against.", ["limit"]),
    maxSlots: gauge("slots_max", "How many requests may be handled at a time, by limit.", ["limit"]),

    connections: gauge("connections_open", "Open connections of clients."),
    maxConnections: gauge("connections_max", "How many connections may be open at a time (MAX_CONNECTIONS)."),
    refusedConnections: counter(
      "connections_refused_total",
      "Connections that were closed at once because of a limit: all for MAX_CONNECTIONS, address for the share of one address.",
      ["limit"],
    ),

    upstreamRequests: counter(
      "upstream_requests_total",
      "Requests to a service that this process uses. result is the class of the status, or unreachable, timeout, broken or aborted (the client left) where there was no response.",
      ["service", "operation", "result"],
    ),
    upstreamSeconds: registry.histogram(
      "upstream_request_duration_seconds",
      "Time from a request to a service until the headers of its response, or its failure.",
      ["service", "operation"],
      REQUEST_SECONDS,
    ),

    lag: registry.histogram(
      "event_loop_lag_seconds",
      "How late a timer was that is due twice a second: as long, other requests waited for one computation.",
      [],
      LAG_SECONDS,
    ),

    cacheHits: counter("cache_hits_total", "Look-ups in a cache that found an entry.", ["cache"]),
    cacheMisses: counter("cache_misses_total", "Look-ups in a cache that found none.", ["cache"]),
    cacheEntries: gauge("cache_entries", "Entries of a cache whose number of entries is limited.", ["cache"]),
    cacheMaxEntries: gauge("cache_entries_max", "How many entries a cache may hold.", ["cache"]),
    cacheBytes: gauge("cache_bytes", "Bytes in a cache whose bytes are limited.", ["cache"]),
    cacheMaxBytes: gauge("cache_bytes_max", "How many bytes a cache may hold.", ["cache"]),

    tasksRunning: gauge("tasks_running", "Background tasks that this process works on."),
    tasksMaxRunning: gauge("tasks_running_max", "How many background tasks this process works on at a time."),
    tasksWaiting: gauge(
      "tasks_waiting",
      "Background tasks of this process that wait for a slot, or for the object store to recover.",
    ),
    tasksEnded: counter(
      "tasks_ended_total",
      "Background tasks that ended in this process: ready, failed or canceled.",
      ["kind", "result"],
    ),
    taskStoreReachable: gauge(
      "task_store_reachable",
      "Whether the database of background tasks could be used when it was last tried: 1 or 0.",
    ),

    fixityObjects: counter(
      "fixity_objects_total",
      "Objects that fixity checks of this process have looked at, by what became of them. changed, missing and unreadable are damage.",
      ["result"],
    ),
    fixityBytes: counter("fixity_read_bytes_total", "Bytes that fixity checks of this process have read."),
    fixityScheduleSuccess: gauge(
      "fixity_schedule_last_end_seconds",
      "When a check of a schedule last came to its end, in seconds since 1970, by the name in FIXITY_SCHEDULES_FILE. No value before the first.",
      ["schedule"],
    ),
    fixityScheduleFailing: gauge(
      "fixity_schedule_failing",
      "Whether the last check of a schedule failed or could not be started: 1 or 0.",
      ["schedule"],
    ),

    notifications: counter(
      "notifications_total",
      "Attempts to deliver a notification, by channel: webhook or mail. sent: the receiver took it. failed: it did not. dropped: it is not tried again, or there was no room for it.",
      ["channel", "result"],
    ),

    auditRecords: counter(
      "audit_records_total",
      "Records of the audit trail, by sink: chain, file or stdout. written: the sink has them. lost: it does not, and never will.",
      ["sink", "result"],
    ),
    auditWaiting: gauge(
      "audit_records_waiting",
      "Records of the audit trail that wait in memory for a sink: a disk that takes none, or a server.",
      ["sink"],
    ),

    campaignsAge: gauge(
      "campaigns_age_seconds",
      "How long ago the campaigns were last known to be those of the cluster, by a watch or a list. Where they are listed for each request, 0 until a list fails. No value before the first list.",
    ),
    campaignsListed: gauge(
      "campaigns_listed",
      "Whether there has been a list or a watch of the campaigns: 1 or 0. No value where none was tried.",
    ),

    diskFree: gauge("disk_free_bytes", "Room left on the disk of the data folder."),
    diskSize: gauge("disk_size_bytes", "Size of the disk of the data folder."),
    diskLow: gauge("disk_low", "Whether little room is left on that disk, by the rule of the readiness: 1 or 0."),
    indexBytes: gauge("store_index_bytes", "Size of the embedded store's index, with what is not merged into it yet."),

    cpu: counter("process_cpu_seconds_total", "Processor time of this process, all of its threads."),
    startTime: gauge("process_start_time_seconds", "When this process started, in seconds since 1970."),
    resident: gauge("process_resident_memory_bytes", "Resident memory of this process."),
    heap: gauge("heap_used_bytes", "Used JavaScript heap of the main thread."),
    heapTotal: gauge("heap_bytes", "JavaScript heap of the main thread."),
    external: gauge("external_memory_bytes", "Memory outside of the heap that the main thread's objects refer to."),
  };
}

/** The label names of metrics with a value for each. */
export type Labels = Readonly<Record<string, string>>;

/** The prefix of all names but those of the process, which Prometheus's conventions fix. */
const PREFIX = "stackroom_";

/** A metric as the documentation shows it. */
interface MetricDescription {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value that is set at each scrape. */
interface Reading {
  /** @param value of a counter: since the start, so it never falls */
  set(labels: Labels, value: number): void;
  /** Leaves the metric without a value. */
  clear(): void;
}

/** The metrics of a process. This file alone imports the package for Prometheus. */
function metricRegistry() {
  const registry = new Registry();
  const descriptions: MetricDescription[] = [];
  const readers: (() => Promise<void>)[] = [];
  let scrape: Promise<string> | null = null;

  function described(type: MetricDescription["type"], given: string, help: string, labels: readonly string[]) {
    const name = given.startsWith("process_") ? given : PREFIX + given;
    descriptions.push({ name, type, help, labels });
    return { name, help, labelNames: [...labels], registers: [registry] };
  }

  async function read(): Promise<string> {
    await Promise.all(readers.map((read) => read()));
    return await registry.metrics();
  }

  return {
    /** A counter that holds what another part of the process has counted. */
    counter(name: string, help: string, labels: readonly string[] = []): Reading {
      const counter = new Counter(described("counter", name, help, labels));
      return unset(labels, counter, (values, value) => {
        counter.remove(values);
        counter.inc(values, value);
      });
    },
    gauge(name: string, help: string, labels: readonly string[] = []): Reading {
      const gauge = new Gauge(described("gauge", name, help, labels));
      return unset(labels, gauge, (values, value) => gauge.set(values, value));
    },
    /** @param buckets their upper bounds, ascending */
    histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram {
      return new Histogram({ ...described("histogram", name, help, labels), buckets: [...buckets] });
    },
    /**
     * Calls `read` before each scrape, to set what is read from other parts. Where it throws, its metrics stay as they
     * were, and a line says so once until it succeeds again: the scrape has the values of all others.
     */
    onScrape(read: () => void | Promise<void>): void {
      let hasFailed = false;
      readers.push(async () => {
        try {
          await read();
          hasFailed = false;
        } catch (error) {
          if (!hasFailed) console.error("Some metrics cannot be read and have old values or none:", error);
          hasFailed = true;
        }
      });
    },
    /** All metrics as they were defined. */
    descriptions: (): readonly MetricDescription[] => descriptions,
    contentType: registry.contentType,
    /** All values in the text format of Prometheus. Scrapes at the same time share one. */
    text: (): Promise<string> => scrape ??= read().finally(() => scrape = null),
  };
}

/** A metric of a part that this process does not have shows no value: 0 would be a claim. */
function unset(labels: readonly string[], metric: Counter | Gauge, set: Reading["set"]): Reading {
  const clear = () => labels.length > 0 ? metric.reset() : metric.remove({});
  clear();
  return { set, clear };
}
