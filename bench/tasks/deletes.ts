import { numberOf } from "@/tools/arguments.ts";
import { createHash } from "node:crypto";
import { usedBy } from "@/bench/process_figures.ts";
import { all, atMost, table } from "@/bench/table.ts";
import { S3Wire } from "@/bench/wire/s3_wire.ts";
import { type Beside, delayOf, othersAlone, WAITS, waits, withOthers } from "./beside.ts";
import { type Filled, fillIndex, keyOf } from "./fill.ts";
import { putAll, putSmall } from "./put.ts";
import { BUCKET, OBJECTS, type Site, startSite } from "./sites.ts";
import { ended } from "./task_progress.ts";

const OBJECTS_OF_TASK = numberOf("BENCH_DELETED_OBJECTS", Deno.env.get("BENCH_DELETED_OBJECTS"), 100_000);
const KIB = 1024;
/** Bodies up to this many bytes are in the index; larger ones are files. */
const LARGEST_IN_INDEX = 16 * KIB;
const LEAST_PER_SECOND = 10_000;
const MOST_DELAY_MS = 20;
const MAX_BATCH = 1000;

interface Way {
  readonly name: string;
  readonly objects: number;
  remove(site: Site, filled: Filled): Promise<void>;
}

const WAYS: readonly Way[] = [
  { name: "task", objects: OBJECTS_OF_TASK, remove: deleteTask },
  { name: "one request", objects: OBJECTS_OF_TASK / 5, remove: deletePrefix },
  { name: "multi-delete", objects: OBJECTS_OF_TASK / 5, remove: multiDelete },
];

const SIZES = [1 * KIB, LARGEST_IN_INDEX, 1024 * KIB];

/** Objects under a prefix deleted through the gateway, and straight at the store by keys that are known. */
export async function measureDeletes(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  let site: Site | null = null;
  try {
    await (await startSite(folder)).stop();
    const rows = [["deleted", "objects", "per second", "CPU of each", ...WAITS, "to reach", "reached"]];
    for (const bodyBytes of SIZES) {
      const isInIndex = bodyBytes <= LARGEST_IN_INDEX;
      const deletions = WAYS.map((way) => {
        const objects = isInIndex ? way.objects : way.objects / 100;
        const prefix = `${way.name}/${bodyBytes}/`;
        return {
          way,
          alone: { prefix: `${prefix}alone/`, objects, bodyBytes },
          watched: { prefix: `${prefix}watched/`, objects: objects / 5, bodyBytes },
        };
      });
      const fills = deletions.flatMap(({ alone, watched }) => [alone, watched]);
      if (isInIndex) fillIndex(folder, BUCKET, fills);
      site = await startSite(folder);
      await putSmall(site);
      if (!isInIndex) { for (const filled of fills) await putAll(site, keysOf(filled), bodyBytes); }
      const others = await othersAlone(site);
      rows.push(["nothing", "", "", "", ...waits(others), "", ""]);
      for (const { way, alone, watched } of deletions) rows.push(await measured(site, way, alone, watched, others));
      await site.stop();
      site = null;
    }
    return table(rows);
  } finally {
    await site?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Deletes objects while nothing else is done, then others while requests are sent beside it. */
async function measured(site: Site, way: Way, filled: Filled, watched: Filled, others: Beside): Promise<string[]> {
  const start = performance.now();
  const { used } = await usedBy(site.pid, () => way.remove(site, filled));
  const perSecond = filled.objects * 1000 / (performance.now() - start);
  const { beside } = await withOthers(site, () => way.remove(site, watched));
  for (const { prefix } of [filled, watched]) await requireEmpty(site, prefix);
  const delay = delayOf(beside, others);
  const isPromised = filled.bodyBytes <= LARGEST_IN_INDEX;
  return [
    `${way.name}, ${filled.bodyBytes / KIB} KiB`,
    filled.objects.toLocaleString("en"),
    Math.round(perSecond).toLocaleString("en"),
    `${Math.round((used?.cpuSeconds ?? NaN) * 1e6 / filled.objects)} µs`,
    ...waits(beside),
    ...all(
      ...isPromised
        ? [[`≥ ${LEAST_PER_SECOND.toLocaleString("en")}`, perSecond >= LEAST_PER_SECOND ? "yes" : "NO"] as const]
        : [],
      atMost(delay, MOST_DELAY_MS, " ms more for others"),
    ),
  ];
}

function keysOf({ prefix, objects }: Filled): string[] {
  return Array.from({ length: objects }, (_, n) => keyOf(prefix, n));
}

async function deleteTask(site: Site, { prefix, objects }: Filled): Promise<void> {
  const { task_id } = await site.call("POST", `${OBJECTS}/delete-task`, { prefixes: [prefix] });
  const { deleted } = await ended(site, `${OBJECTS}/delete-task/${task_id}`);
  if (deleted !== objects) throw new Error(`${deleted} objects were deleted instead of ${objects}`);
}

async function deletePrefix(site: Site, { prefix, objects }: Filled): Promise<void> {
  const { deleted } = await site.call("POST", `${OBJECTS}/delete`, { prefix });
  if (deleted !== objects) throw new Error(`${deleted} objects were deleted instead of ${objects}`);
}

async function multiDelete({ store }: Site, filled: Filled): Promise<void> {
  const wire = new S3Wire(store);
  const keys = keysOf(filled);
  for (let at = 0; at < keys.length; at += MAX_BATCH) {
    const named = keys.slice(at, at + MAX_BATCH).map((key) => `<Object><Key>${key}</Key></Object>`).join("");
    const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${named}</Delete>`);
    const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
    await wire.succeed({ method: "POST", bucket: BUCKET, query: [["delete", ""]], headers, body });
  }
  wire.close();
}

async function requireEmpty(site: Site, prefix: string): Promise<void> {
  const page = await site.call("GET", `${OBJECTS}?prefix=${encodeURIComponent(prefix)}`);
  if (page.key_count !== 0) throw new Error(`${page.key_count} objects are still under ${prefix}`);
}
