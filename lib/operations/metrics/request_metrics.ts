import process from "node:process";
import type { MeasureRequest } from "@/lib/http/access_log.ts";
import { type Refusal, REFUSALS } from "@/lib/http/errors.ts";
import type { Admitted } from "@/lib/http/request_context.ts";
import type { MeasureUpstream, UpstreamResult } from "@/lib/http/upstream/upstream_request.ts";
import { cacheFigures } from "@/lib/std/caches.ts";
import { type Labels, type Metrics, STATUS_CLASSES } from "./metric_table.ts";

const NONE = "none";

/** Classes and results that each operation has from its first request on: a rate needs the 0 before the first one. */
const FIRST_CLASSES: ReadonlySet<string> = new Set(["2xx", "4xx", "5xx"]);
const FIRST_RESULTS = ["2xx", "5xx", "unreachable", "timeout", "broken"];

/** The longest object of S3, bytes: no body that is read is longer. */
const MAX_BODY_BYTES = 5 * 2 ** 40;

/** Counts of one operation in one role. */
interface OperationFigures {
  readonly labels: Labels;
  /** Requests by the first digit of their status. */
  readonly byClass: number[];
  readonly observe: (seconds: number) => void;
}

interface RoleFigures {
  readonly operations: Map<string, OperationFigures>;
  receivedBytes: number;
  sentBytes: number;
}

/**
 * Counts requests. It runs for each of them, so it adds to numbers of its own, which a scrape copies: the package's
 * counters build a text of the labels each time.
 */
export function requestFigures(metrics: Metrics): MeasureRequest {
  const roles = new Map<string, RoleFigures>();
  const admitted: Record<Admitted, number> = { proven: 0, unproven: 0 };
  // A rate needs the 0 before the first one.
  const refusals = new Map<Refusal, number>(REFUSALS.map((refusal) => [refusal, 0]));

  const figuresOf = (role: string): RoleFigures => {
    let figures = roles.get(role);
    if (!figures) roles.set(role, figures = { operations: new Map(), receivedBytes: 0, sentBytes: 0 });
    return figures;
  };
  const operationOf = ({ operations }: RoleFigures, role: string, operation: string): OperationFigures => {
    let figures = operations.get(operation);
    if (!figures) {
      const labels = { role, operation };
      const { observe } = metrics.requestSeconds.labels(labels);
      operations.set(operation, figures = { labels, byClass: STATUS_CLASSES.map(() => 0), observe });
    }
    return figures;
  };

  metrics.registry.onScrape(() => {
    for (const [role, { operations, receivedBytes, sentBytes }] of roles) {
      metrics.receivedBytes.set({ role }, receivedBytes);
      metrics.sentBytes.set({ role }, sentBytes);
      for (const { labels, byClass } of operations.values()) {
        byClass.forEach((count, digit) => {
          const status = STATUS_CLASSES[digit];
          if (count > 0 || FIRST_CLASSES.has(status)) metrics.requests.set({ ...labels, status }, count);
        });
      }
    }
    for (const credentials of ["proven", "unproven"] as const) {
      metrics.admitted.set({ credentials }, admitted[credentials]);
    }
    for (const [reason, count] of refusals) metrics.refused.set({ reason }, count);
  });

  return function measureRequest(context, { status, headers }, milliseconds) {
    const { role = NONE, operation = NONE, method } = context;
    const figures = figuresOf(role);
    const ofOperation = operationOf(figures, role, operation);
    ofOperation.byClass[Math.floor(status / 100)]++;
    ofOperation.observe(milliseconds / 1000);
    if (context.admitted !== undefined) admitted[context.admitted]++;
    if (context.refusal !== undefined) refusals.set(context.refusal, (refusals.get(context.refusal) ?? 0) + 1);
    if (method === "HEAD") return;
    figures.sentBytes += bytesIn(headers);
    // A client may announce any length: only a request that succeeded has had its body read.
    if (method !== "GET" && status >= 200 && status < 300) figures.receivedBytes += bytesIn(context.request.headers);
  };
}

/** The length that headers announce, bytes; 0 without one that is possible. */
function bytesIn(headers: Headers): number {
  const length = Number(headers.get("Content-Length"));
  return length > 0 && length <= MAX_BODY_BYTES && Number.isSafeInteger(length) ? length : 0;
}

/** The other processes that this one uses. */
export type Service = "s3" | "mapi" | "results_store" | "kubernetes" | "results" | "gateway";

/** Returns what counts the requests to a service; like that of requests, it adds to numbers of its own. */
export function upstreamFigures(metrics: Metrics): (service: Service) => MeasureUpstream {
  type Figures = { readonly byResult: Map<string, number>; readonly observe: (seconds: number) => void };
  const services = new Map<Service, Map<string, Figures>>();
  metrics.registry.onScrape(() => {
    for (const [service, operations] of services) {
      for (const [operation, { byResult }] of operations) {
        for (const [result, count] of byResult) metrics.upstreamRequests.set({ service, operation, result }, count);
      }
    }
  });
  return function measureOf(service) {
    const known = services.get(service) ?? new Map<string, Figures>();
    services.set(service, known);
    return function measureUpstream(operation, result, milliseconds) {
      let figures = known.get(operation);
      if (!figures) {
        const { observe } = metrics.upstreamSeconds.labels({ service, operation });
        figures = { byResult: new Map(FIRST_RESULTS.map((result) => [result, 0])), observe };
        known.set(operation, figures);
      }
      const { byResult } = figures;
      const name = nameOf(result);
      byResult.set(name, (byResult.get(name) ?? 0) + 1);
      figures.observe(milliseconds / 1000);
    };
  };
}

/** A service may respond with any number, so what is no status of HTTP has one name. */
function nameOf(result: UpstreamResult): string {
  return typeof result === "string" ? result : STATUS_CLASSES[Math.floor(result / 100)] ?? "other";
}

/** Reads at each scrape what every process has. @returns ends it */
export function processFigures(metrics: Metrics, version: string): () => void {
  metrics.registry.onScrape(() => {
    const { rss, heapUsed, heapTotal, external } = Deno.memoryUsage();
    const { user, system } = process.cpuUsage();
    metrics.buildInfo.set({ version }, 1);
    metrics.startTime.set({}, performance.timeOrigin / 1000);
    metrics.cpu.set({}, (user + system) / 1e6);
    metrics.resident.set({}, rss);
    metrics.heap.set({}, heapUsed);
    metrics.heapTotal.set({}, heapTotal);
    metrics.external.set({}, external);
    for (const { name: cache, hits, misses, unit, size, max } of cacheFigures()) {
      metrics.cacheHits.set({ cache }, hits);
      metrics.cacheMisses.set({ cache }, misses);
      (unit === "bytes" ? metrics.cacheBytes : metrics.cacheEntries).set({ cache }, size);
      (unit === "bytes" ? metrics.cacheMaxBytes : metrics.cacheMaxEntries).set({ cache }, max);
    }
  });
  return watchEventLoop((seconds) => metrics.lag.observe(seconds));
}

/** How often the event loop is probed, ms. */
const EVERY_MS = 500;

/**
 * Measures how late a timer is.
 *
 * @param observe receives the delay, s
 * @returns ends it
 */
export function watchEventLoop(observe: (seconds: number) => void): () => void {
  let dueAt = performance.now() + EVERY_MS;
  const probe = () => {
    const now = performance.now();
    observe(Math.max(0, now - dueAt) / 1000);
    dueAt = now + EVERY_MS;
    timer = setTimeout(probe, EVERY_MS);
    Deno.unrefTimer(timer);
  };
  let timer = setTimeout(probe, EVERY_MS);
  Deno.unrefTimer(timer);
  return () => clearTimeout(timer);
}
