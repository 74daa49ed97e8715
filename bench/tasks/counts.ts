import { numberOf } from "@/tools/arguments.ts";
import { inTurns, median } from "@/bench/gateway/load.ts";
import { all, atMost, table, times } from "@/bench/table.ts";
import { usedBy } from "@/bench/process_figures.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { encodeQuery, type S3, s3Path, signHeaders, UNSIGNED_PAYLOAD } from "@/lib/s3/s3_client.ts";
import { sleep } from "@/lib/std/timing.ts";
import { countKeys, NOTHING_COUNTED } from "@/lib/tasks/count.ts";
import { delayOf, othersAlone, WAITS, waits, withOthers } from "./beside.ts";
import { fillIndex } from "./fill.ts";
import { putSmall } from "./put.ts";
import { BUCKET, OBJECTS, type Site, startSite } from "./sites.ts";
import { ended } from "./task_progress.ts";

const KEYS = numberOf("BENCH_COUNTED_KEYS", Deno.env.get("BENCH_COUNTED_KEYS"), 1_000_000);
const PREFIX = "tree/";
const REGION = "us-east-1";
const ROUNDS = 3;
/** Counts beside which others are measured: a single one lets too few of them through for one request in a thousand. */
const COUNTS_BESIDE = 5;
const MOST_OF_PAGER = 1.5;
const MOST_DELAY_MS = 20;
/** A store at a distance: each of its responses comes so much later, ms. */
const DISTANCE_MS = 40;
const MOST_OF_PAGER_AT_DISTANCE = 0.5;

/** A million keys of the embedded store counted by a task, beside a pager of twenty lines. */
export async function measureCounts(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  let site: Site | null = null;
  try {
    await (await startSite(folder)).stop();
    fillIndex(folder, BUCKET, [{ prefix: PREFIX, objects: KEYS, bodyBytes: 1 }]);
    site = await startSite(folder);
    const rows = [[
      `${KEYS.toLocaleString("en")} keys`,
      "pager",
      "task",
      "of the pager",
      "CPU of the pager's",
      "CPU of the task's",
      ...WAITS,
      "to reach",
      "reached",
    ]];
    const [pagers, tasks] = await inTurns(
      [counted(site, paged), counted(site, countTask)],
      (measure) => measure(),
      ROUNDS,
    );
    const [distantPagers, distantCounts] = await inTurns(
      [counted(site, (site) => paged(site, DISTANCE_MS)), counted(site, countAtDistance)],
      (measure) => measure(),
      1,
    );
    await putSmall(site);
    const alone = await othersAlone(site);
    const count = counted(site, countTask);
    const { beside } = await withOthers(site, async () => {
      for (let n = 0; n < COUNTS_BESIDE; n++) await count();
    });
    const delay = delayOf(beside, alone);
    const share = median(tasks.map(({ seconds }, round) => seconds / pagers[round].seconds));
    rows.push([
      "embedded store",
      ...[pagers, tasks].map((figures) => `${median(figures.map(({ seconds }) => seconds)).toFixed(2)} s`),
      times(share),
      ...[pagers, tasks].map((figures) => `${median(figures.map(({ cpuSeconds }) => cpuSeconds)).toFixed(2)} s`),
      ...waits(beside),
      ...all(atMost(share, MOST_OF_PAGER, " x"), atMost(delay, MOST_DELAY_MS, " ms more for others")),
    ]);
    rows.push(["without a task", "", "", "", "", "", ...waits(alone), "", ""]);
    const distantShare = distantCounts[0].seconds / distantPagers[0].seconds;
    rows.push([
      `${DISTANCE_MS} ms away`,
      `${distantPagers[0].seconds.toFixed(2)} s`,
      `${distantCounts[0].seconds.toFixed(2)} s`,
      times(distantShare),
      "",
      "",
      ...WAITS.map(() => ""),
      ...all(atMost(distantShare, MOST_OF_PAGER_AT_DISTANCE, " x")),
    ]);
    return table(rows);
  } finally {
    await site?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function counted(site: Site, count: (site: Site) => Promise<number>) {
  return async () => {
    const start = performance.now();
    const { result, used } = await usedBy(site.pid, () => count(site));
    if (result !== KEYS) throw new Error(`${result} keys were counted instead of ${KEYS}`);
    return { seconds: (performance.now() - start) / 1000, cpuSeconds: used?.cpuSeconds ?? NaN };
  };
}

/** The pager: pages of 1000, one after the other, straight from the store. */
async function paged({ store }: Site, distanceMs = 0): Promise<number> {
  const { host } = new URL(store.origin);
  let count = 0;
  let token = "";
  for (;;) {
    const query: [string, string][] = [["list-type", "2"], ["max-keys", "1000"], ["prefix", PREFIX]];
    if (token) query.push(["continuation-token", token]);
    const headers: Record<string, string> = {};
    const path = s3Path(BUCKET);
    if (distanceMs > 0) await sleep(distanceMs);
    signHeaders({ method: "GET", host, path, query }, headers, UNSIGNED_PAYLOAD, {
      keys: store.keys,
      region: REGION,
      now: Date.now(),
    });
    const text = await (await fetch(`${store.origin}${path}?${encodeQuery(query)}`, { headers })).text();
    count += text.match(/<Contents>/g)?.length ?? 0;
    token = /<NextContinuationToken>([^<]+)/.exec(text)?.[1] ?? "";
    if (!token) return count;
  }
}

/** A task's work through a client with added latency. */
async function countAtDistance({ store }: Site): Promise<number> {
  const upstream = upstreamClient({ verifyTls: true, timeoutMs: 60_000 });
  const s3: S3 = {
    addresses: { s3: () => Promise.resolve({ endpoint: store.origin, publicEndpoint: store.origin }) },
    region: REGION,
    upstream: {
      async send(request) {
        await sleep(DISTANCE_MS);
        return await upstream.send(request);
      },
    },
    now: Date.now,
  };
  const caller = { username: "curator", tenant: "archive", s3: store.keys, mapiAuthorization: null, named: true };
  const onPage = () => Promise.resolve();
  const { files } = await countKeys(NOTHING_COUNTED, {
    s3,
    caller,
    bucket: BUCKET,
    prefix: PREFIX,
    delimiter: "",
    read: (work) => work(),
    onPage,
  });
  return files;
}

async function countTask(site: Site): Promise<number> {
  const started = await site.call("POST", `${OBJECTS}/s3_stats?prefix=${encodeURIComponent(PREFIX)}`);
  return Number((await ended(site, `${OBJECTS}/s3_stats/${started.task_id}`)).files);
}
