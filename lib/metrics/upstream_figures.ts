import type { MeasureUpstream, UpstreamResult } from "@/lib/http/upstream/upstream_request.ts";
import { type Metrics, STATUS_CLASSES } from "./metrics.ts";

/** Results that each operation has from its first request on: a rate needs the 0 before the first one. */
const FROM_THE_START = ["2xx", "5xx", "unreachable", "timeout", "broken"];

/** What other processes this one uses. */
export type Service = "s3" | "mapi" | "results_store" | "kubernetes" | "results" | "gateway";

interface OperationFigures {
  readonly byResult: Map<string, number>;
  readonly observe: (seconds: number) => void;
}

/** Returns what counts the requests to a service; like that of requests, it adds to numbers of its own. */
export function upstreamFigures(metrics: Metrics): (service: Service) => MeasureUpstream {
  const services = new Map<Service, Map<string, OperationFigures>>();
  metrics.registry.onScrape(() => {
    for (const [service, operations] of services) {
      for (const [operation, { byResult }] of operations) {
        for (const [result, count] of byResult) metrics.upstreamRequests.set({ service, operation, result }, count);
      }
    }
  });
  return function measureOf(service) {
    const known = services.get(service) ?? new Map<string, OperationFigures>();
    services.set(service, known);
    return function measureUpstream(operation, result, milliseconds) {
      let figures = known.get(operation);
      if (!figures) {
        const { observe } = metrics.upstreamSeconds.labels({ service, operation });
        known.set(
          operation,
          figures = {
            byResult: new Map(FROM_THE_START.map((result) => [result, 0])),
            observe,
          },
        );
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
