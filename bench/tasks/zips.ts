import { numberOf } from "@/tools/arguments.ts";
import { inTurns, median } from "@/bench/gateway/load.ts";
import { usedBy } from "@/bench/process_figures.ts";
import { table } from "@/bench/table.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { keyOf } from "./fill.ts";
import { putAll } from "./put.ts";
import { OBJECTS, type Site, startSite } from "./sites.ts";
import { ended } from "./task_progress.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const ROUNDS = 3;
const AT_ONCE = 20;

interface Archive {
  readonly name: string;
  readonly objects: number;
  readonly bodyBytes: number;
  /** The least share of the speed of downloads. */
  readonly least: number;
}

const LARGE_BYTES = numberOf("BENCH_STREAM_MIB", Deno.env.get("BENCH_STREAM_MIB"), 1024) * MIB;

const ARCHIVES: readonly Archive[] = [
  { name: "5,000 of 16 KiB", objects: 5000, bodyBytes: 16 * KIB, least: 0.85 },
  { name: "300 of 1 MiB", objects: 300, bodyBytes: MIB, least: 0.85 },
  { name: `one of ${LARGE_BYTES / MIB} MiB`, objects: 1, bodyBytes: LARGE_BYTES, least: 0.6 },
];

/** Archives beside downloads of the same objects through the gateway, 20 at a time. */
export async function measureZips(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  const site = await startSite(folder);
  try {
    const rows = [[
      "archive",
      "prepared in",
      "archive MB/s",
      "downloads MB/s",
      "of the downloads",
      "CPU of each object",
      "of the downloads",
      "to reach",
      "reached",
    ]];
    for (const archive of ARCHIVES) rows.push(await measured(site, archive));
    return table(rows);
  } finally {
    await site.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

async function measured(site: Site, { name, objects, bodyBytes, least }: Archive): Promise<string[]> {
  const prefix = `zip/${bodyBytes}/`;
  const keys = Array.from({ length: objects }, (_, n) => keyOf(prefix, n));
  await putAll(site, keys, bodyBytes);
  const start = performance.now();
  const { task_id } = await site.call("POST", `${OBJECTS}/download`, { prefix });
  await ended(site, `${OBJECTS}/download/${task_id}`);
  const prepared = (performance.now() - start) / 1000;
  const bytes = objects * bodyBytes;
  const timed = (download: () => Promise<number>) => async () => {
    const start = performance.now();
    const { result, used } = await usedBy(site.pid, download);
    if (result < bytes) throw new Error(`${result} bytes came instead of ${bytes}`);
    return { bytesPerSecond: bytes * 1000 / (performance.now() - start), cpuSeconds: used?.cpuSeconds ?? NaN };
  };
  const [archives, downloads] = await inTurns(
    [
      timed(() => download(site, `${OBJECTS}/download/${task_id}`)),
      timed(() => downloadAll(site, keys)),
    ],
    (measure) => measure(),
    ROUNDS,
  );
  const share = median(archives.map(({ bytesPerSecond }, round) => bytesPerSecond / downloads[round].bytesPerSecond));
  const speeds = [archives, downloads].map((figures) => median(figures.map(({ bytesPerSecond }) => bytesPerSecond)));
  const cpu = [archives, downloads].map((figures) => median(figures.map(({ cpuSeconds }) => cpuSeconds)) / objects);
  return [
    name,
    `${prepared.toFixed(2)} s`,
    ...speeds.map((speed) => Math.round(speed / 1e6).toLocaleString("en")),
    `${Math.round(share * 100)}%`,
    ...cpu.map((seconds) => `${(seconds * 1000).toFixed(2)} ms`),
    `≥ ${least * 100}%`,
    share >= least ? "yes" : "NO",
  ];
}

async function downloadAll(site: Site, keys: readonly string[]): Promise<number> {
  let next = 0;
  let received = 0;
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, keys.length) }, async () => {
    const connection = new HttpConnection(site.origin);
    while (next < keys.length) {
      const bytes = await downloadBy(connection, site, `${OBJECTS}/${keys[next++]}`);
      received += bytes;
    }
    connection.close();
  }));
  return received;
}

async function download(site: Site, target: string): Promise<number> {
  const connection = new HttpConnection(site.origin);
  const received = await downloadBy(connection, site, target);
  connection.close();
  return received;
}

async function downloadBy(connection: HttpConnection, site: Site, target: string): Promise<number> {
  let received = 0;
  const { status } = await connection.request("GET", target, site.headers, null, (part) => received += part.length);
  if (status !== 200) throw new Error(`GET ${target} was answered with ${status}`);
  return received;
}
