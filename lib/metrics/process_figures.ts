import process from "node:process";
import { cacheFigures } from "@/lib/std/counted_cache.ts";
import type { Metrics } from "./metrics.ts";
import { watchEventLoop } from "./event_loop_lag.ts";

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
