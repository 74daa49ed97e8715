import { startRequestLoop } from "@/bench/gateway/request_loop_client.ts";
import { ms, percentile } from "@/bench/latencies.ts";
import { sleep } from "@/lib/std/timing.ts";
import { OBJECTS, type Site } from "./sites.ts";

/** An object that is read while a task runs. */
export const SMALL_KEY = "read-beside.txt";

/** How long the others are measured without a task, ms. */
const ALONE_MS = 5000;

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

/** How the others do while no task runs. */
export async function othersAlone(site: Site): Promise<Beside> {
  return (await withOthers(site, () => sleep(ALONE_MS))).beside;
}

/**
 * By how much a task delays the others, but for one request in a thousand, ms: the longer one of both delays. The others
 * alone have waits of their own, as each of them and the task need a processor of the same machine.
 */
export function delayOf(beside: Beside, alone: Beside): number {
  const delay = (durations: readonly number[], without: readonly number[]) =>
    Math.max(0, percentile(durations, 0.999) - percentile(without, 0.999));
  return Math.max(delay(beside.healthz, alone.healthz), delay(beside.download, alone.download));
}
