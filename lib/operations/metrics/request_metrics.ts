import process from "node:process";
import type { MeasureRequest } from "@/lib/http/app.ts";
import { type Refusal, REFUSALS } from "@/lib/http/errors.ts";
import type { Admitted } from "@/lib/http/request_context.ts";
import type { MeasureUpstream, UpstreamResult } from "@/lib/http/upstream.ts";
import { cacheFigures } from "@/lib/std/caches.ts";
import { type Metrics, type Reading, STATUS_CLASSES } from "./metric_table.ts";

const NONE = "none";

/** The longest object of S3, bytes: no body that is read is longer. */
const MAX_BODY_BYTES = 5 * 2 ** 40;

/** Counts of one operation. */
interface OperationFigures {
  readonly counts: Map<string, number>;
  readonly observe: (seconds: number) => void;
}

interface Tally {
  readonly counter: Reading;
  readonly seconds: Metrics["requestSeconds"];
  /** Names of the labels beside `operation`. */
  readonly labels: readonly [owner: string, result: string];
  /** Results that an operation has from its first request on: a rate needs the 0 before the first one. */
  readonly first: readonly string[];
}

/**
 * Counts operations by their results. It runs for each request, so it adds to plain numbers, which a scrape copies: the
 * package's counters build a text of the labels each time.
 */
function tally({ registry }: Metrics, { counter, seconds, labels: [ownerLabel, resultLabel], first }: Tally) {
  const owners = new Map<string, Map<string, OperationFigures>>();
  registry.onScrape(() => {
    for (const [owner, operations] of owners) {
      for (const [operation, { counts }] of operations) {
        for (const [result, count] of counts) {
          counter.set({ [ownerLabel]: owner, operation, [resultLabel]: result }, count);
        }
      }
    }
  });
  return function add(owner: string, operation: string, result: string, milliseconds: number): void {
    let operations = owners.get(owner);
    if (!operations) owners.set(owner, operations = new Map());
    let figures = operations.get(operation);
    if (!figures) {
      const { observe } = seconds.labels({ [ownerLabel]: owner, operation });
      operations.set(operation, figures = { counts: new Map(first.map((result) => [result, 0])), observe });
    }
    figures.counts.set(result, (figures.counts.get(result) ?? 0) + 1);
    figures.observe(milliseconds / 1000);
  };
}

/** Counts requests by role and operation. */
export function requestFigures(metrics: Metrics): MeasureRequest {
  const add = tally(metrics, {
    counter: metrics.requests,
    seconds: metrics.requestSeconds,
    labels: ["role", "status"],
    first: ["2xx", "4xx", "5xx"],
  });
  const bytes = new Map<string, { received: number; sent: number }>();
  const admitted: Record<Admitted, number> = { proven: 0, unproven: 0 };
  // A rate needs the 0 before the first one.
  const refusals = new Map<Refusal, number>(REFUSALS.map((refusal) => [refusal, 0]));

  metrics.registry.onScrape(() => {
    for (const [role, { received, sent }] of bytes) {
      metrics.receivedBytes.set({ role }, received);
      metrics.sentBytes.set({ role }, sent);
    }
    for (const credentials of ["proven", "unproven"] as const) {
      metrics.admitted.set({ credentials }, admitted[credentials]);
    }
    for (const [reason, count] of refusals) metrics.refused.set({ reason }, count);
  });

  return function measureRequest(context, { status, headers }, milliseconds) {
    const { role = NONE, operation = NONE, method } = context;
    add(role, operation, nameOf(status), milliseconds);
    let figures = bytes.get(role);
    if (!figures) bytes.set(role, figures = { received: 0, sent: 0 });
    if (context.admitted !== undefined) admitted[context.admitted]++;
    if (context.refusal !== undefined) refusals.set(context.refusal, (refusals.get(context.refusal) ?? 0) + 1);
    if (method === "HEAD") return;
    figures.sent += bytesIn(headers);
    // A client may announce any length: only a request that succeeded has had its body read.
    if (method !== "GET" && status >= 200 && status < 300) figures.received += bytesIn(context.request.headers);
  };
}

/** The length that headers announce, bytes; 0 without one that is possible. */
function bytesIn(headers: Headers): number {
  const length = Number(headers.get("Content-Length"));
  return length > 0 && length <= MAX_BODY_BYTES && Number.isSafeInteger(length) ? length : 0;
}

/** The other processes that this one uses. */
export type Service = "s3" | "mapi" | "results_store" | "kubernetes" | "results" | "gateway";

/** Counts requests to services by operation. */
export function upstreamFigures(metrics: Metrics): (service: Service) => MeasureUpstream {
  const add = tally(metrics, {
    counter: metrics.upstreamRequests,
    seconds: metrics.upstreamSeconds,
    labels: ["service", "result"],
    first: ["2xx", "5xx", "unreachable", "timeout", "broken"],
  });
  return (service) => (operation, result, milliseconds) => add(service, operation, nameOf(result), milliseconds);
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
