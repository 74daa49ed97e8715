import { startRequestLoop } from "@/bench/gateway/request_loop_client.ts";
import { ms, percentile } from "@/bench/latencies.ts";
import { OBJECTS, type Site } from "./sites.ts";

/** An object that is read while a task runs. */
export const SMALL_KEY = "read-beside.txt";

/** Of requests that were sent one after the other beside a task: one that needs no store, and a small download. */
export interface Beside {
  readonly healthz: readonly number[];
  readonly download: readonly number[];
}

/** Runs a measure while other requests are sent, each again and again from a thread of its own. */
export async function withOthers<T>(site: Site, measure: () => Promise<T>): Promise<{ result: T; beside: Beside }> {
  const healthz = startRequestLoop(site.origin, { method: "GET", target: "/healthz", headers: [] });
  const download = startRequestLoop(site.origin, {
    method: "GET",
    target: `${OBJECTS}/${SMALL_KEY}`,
    headers: site.headers,
  });
  const result = await measure();
  return { result, beside: { healthz: await healthz.stop(), download: await download.stop() } };
}

/** The columns that {@link waits} fills. */
export const WAITS = ["/healthz beside it p50", "p99.9", "max", "GET of 1 KiB p50", "p99.9", "max"];

/** How long the others waited, as a table shows it. */
export function waits({ healthz, download }: Beside): string[] {
  return [healthz, download].flatMap((durations) => [0.5, 0.999, 1].map((share) => ms(percentile(durations, share))));
}

/** The longer one of both, but for one request in a thousand, ms. */
export function longestWait({ healthz, download }: Beside): number {
  return Math.max(percentile(healthz, 0.999), percentile(download, 0.999));
}
