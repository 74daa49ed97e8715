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
    buildInfo: gauge("build_info", "Always 1; the label is the running version.", ["version"]),

    requests: counter(
      "http_requests_total",
      "Requests by class of status. role or operation is none if no role or operation handles the path.",
      ["role", "operation", "status"],
    ),
    requestSeconds: registry.histogram(
      "http_request_duration_seconds",
      "Time from a request to the headers of its response: with the body of an upload, without that of a download.",
      ["role", "operation"],
      REQUEST_SECONDS,
    ),
    receivedBytes: counter(
      "http_request_body_bytes_total",
      "Content-Length of successful requests (2xx).",
      ["role"],
    ),
    sentBytes: counter(
      "http_response_body_bytes_total",
      "Content-Length of responses: objects, files and long lists. A download that breaks off counts whole.",
      ["role"],
    ),
    admitted: counter(
      "admissions_total",
      "Requests with a bearer token: proven if the store accepted its credentials within the last minute, else unproven.",
      ["credentials"],
    ),
    refused: counter(
      "refusals_total",
      "Requests refused because of a limit. Refusals during an overload are counted only here.",
      ["reason"],
    ),
    overloaded: gauge("overloaded", "1 while requests are refused because the event loop is late, else 0."),
    slots: gauge("slots_in_use", "Requests in progress, by limit.", ["limit"]),
    maxSlots: gauge("slots_max", "Maximum of requests in progress, by limit.", ["limit"]),

    connections: gauge("connections_open", "Open connections of clients."),
    maxConnections: gauge("connections_max", "Maximum of open connections (MAX_CONNECTIONS)."),
    refusedConnections: counter(
      "connections_refused_total",
      "Connections closed at once because of a limit: all (MAX_CONNECTIONS) or address (the share of one address).",
      ["limit"],
    ),

    upstreamRequests: counter(
      "upstream_requests_total",
      "Requests to upstream services. result is the class of the status, or unreachable, timeout, broken or aborted (by the client).",
      ["service", "operation", "result"],
    ),
    upstreamSeconds: registry.histogram(
      "upstream_request_duration_seconds",
      "Time from a request to an upstream service to the headers of its response, or its failure.",
      ["service", "operation"],
      REQUEST_SECONDS,
    ),

    lag: registry.histogram(
      "event_loop_lag_seconds",
      "Delay of a timer that is due twice a second.",
      [],
      LAG_SECONDS,
    ),

    cacheHits: counter("cache_hits_total", "Lookups that found an entry.", ["cache"]),
    cacheMisses: counter("cache_misses_total", "Lookups that found none.", ["cache"]),
    cacheEntries: gauge("cache_entries", "Entries of a cache with a limited number of entries.", ["cache"]),
    cacheMaxEntries: gauge("cache_entries_max", "Maximum number of entries.", ["cache"]),
    cacheBytes: gauge("cache_bytes", "Bytes in a cache with a limited size.", ["cache"]),
    cacheMaxBytes: gauge("cache_bytes_max", "Maximum size of a cache.", ["cache"]),

    tasksRunning: gauge("tasks_running", "Running background tasks."),
    tasksMaxRunning: gauge("tasks_running_max", "Maximum of running background tasks."),
    tasksWaiting: gauge(
      "tasks_waiting",
      "Background tasks that wait for a slot, or for the object store to recover.",
    ),
    tasksEnded: counter(
      "tasks_ended_total",
      "Ended background tasks: ready, failed or canceled.",
      ["kind", "result"],
    ),
    taskStoreReachable: gauge(
      "task_store_reachable",
      "1 if the last access to the database of background tasks succeeded, else 0.",
    ),

    fixityObjects: counter(
      "fixity_objects_total",
      "Objects checked by fixity checks, by result. changed, missing and unreadable are damage.",
      ["result"],
    ),
    fixityBytes: counter("fixity_read_bytes_total", "Bytes read by fixity checks."),
    fixityScheduleSuccess: gauge(
      "fixity_schedule_last_end_seconds",
      "End of the last finished check of a schedule, in seconds since 1970. No value before the first.",
      ["schedule"],
    ),
    fixityScheduleFailing: gauge(
      "fixity_schedule_failing",
      "1 if the last check of a schedule failed or could not be started, else 0.",
      ["schedule"],
    ),

    notifications: counter(
      "notifications_total",
      "Deliveries by channel (webhook, mail): sent, failed, or dropped (given up, or no room).",
      ["channel", "result"],
    ),

    auditRecords: counter(
      "audit_records_total",
      "Records of the audit trail by sink (chain, file, stdout): written or lost.",
      ["sink", "result"],
    ),
    auditWaiting: gauge(
      "audit_records_waiting",
      "Records of the audit trail that wait in memory for a sink.",
      ["sink"],
    ),

    campaignsAge: gauge(
      "campaigns_age_seconds",
      "Age of the campaigns' data. Where they are listed for each request, 0 until a list fails. No value before the first list.",
    ),
    campaignsListed: gauge(
      "campaigns_listed",
      "1 if the campaigns have been listed or watched, else 0.",
    ),

    diskFree: gauge("disk_free_bytes", "Free bytes on the disk of the data folder."),
    diskSize: gauge("disk_size_bytes", "Size of the disk of the data folder."),
    diskLow: gauge("disk_low", "1 if /readyz calls that disk nearly full, else 0."),
    indexBytes: gauge("store_index_bytes", "Size of the embedded store's index with its write-ahead log."),

    cpu: counter("process_cpu_seconds_total", "Processor time of all threads."),
    startTime: gauge("process_start_time_seconds", "Start time in seconds since 1970."),
    resident: gauge("process_resident_memory_bytes", "Resident memory of this process."),
    heap: gauge("heap_used_bytes", "Used JavaScript heap of the main thread."),
    heapTotal: gauge("heap_bytes", "JavaScript heap of the main thread."),
    external: gauge("external_memory_bytes", "Memory outside the heap held by the main thread's objects."),
  };
}

/** The label names of metrics with a value for each. */
type Labels = Readonly<Record<string, string>>;

/** The prefix of all names but those of the process, which Prometheus's conventions fix. */
const PREFIX = "stackroom_";

/** A value that is set at each scrape. */
export interface Reading {
  /** @param value of a counter: since the start, so it never falls */
  set(labels: Labels, value: number): void;
  /** Leaves the metric without a value. */
  clear(): void;
}

/** The metrics of a process. This file alone imports the package for Prometheus. */
function metricRegistry() {
  const registry = new Registry();
  const descriptions: { name: string; type: string; help: string; labels: readonly string[] }[] = [];
  const readers: (() => Promise<void>)[] = [];
  let scrape: Promise<string> | null = null;

  function described(type: string, given: string, help: string, labels: readonly string[]) {
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
    /** All metrics as they were defined, as the documentation shows them. */
    descriptions: () => descriptions,
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
