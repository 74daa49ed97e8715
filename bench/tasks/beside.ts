import { startRequestLoop } from "@/bench/loop_thread.ts";
import { ms, percentile } from "@/bench/table.ts";
import { sleep } from "@/lib/std/timing.ts";
import { OBJECTS, type Site } from "./sites.ts";

/** An object that is read while a task runs. */
export const SMALL_KEY = "read-beside.txt";

/** Duration of the measurement without a task, ms. */
const ALONE_MS = 5000;

/** Durations of requests beside a task: one that needs no store, and a small download. */
export interface Beside {
  readonly healthz: readonly number[];
  readonly download: readonly number[];
}

/** Runs a measure while separate threads repeat other requests. */
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

/** The delay of the other requests as a table cell. */
export function waits({ healthz, download }: Beside): string[] {
  return [healthz, download].flatMap((durations) => [0.5, 0.999, 1].map((share) => ms(percentile(durations, share))));
}

/** The other requests while no task runs. */
export async function othersAlone(site: Site): Promise<Beside> {
  return (await withOthers(site, () => sleep(ALONE_MS))).beside;
}

/**
 * Delay of the other requests by a task at the 99.9th percentile, ms: the longer one of both. Their waits without a task
 * are subtracted, since all of them share the processors of one machine.
 */
export function delayOf(beside: Beside, alone: Beside): number {
  const delay = (durations: readonly number[], without: readonly number[]) =>
    Math.max(0, percentile(durations, 0.999) - percentile(without, 0.999));
  return Math.max(delay(beside.healthz, alone.healthz), delay(beside.download, alone.download));
}
