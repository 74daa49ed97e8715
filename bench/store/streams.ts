import { numberOf } from "@/tools/arguments.ts";
import { randomBytes } from "node:crypto";
import { type Used, usedBy } from "@/bench/process_figures.ts";
import { table } from "@/bench/table.ts";
import { S3Wire } from "@/bench/wire/s3_wire.ts";
import { givenServers, type MeasuredServer, startEmbedded, startFloor } from "./servers.ts";

/** The rate of the embedded store, of that of a server that only writes and reads files. */
const LEAST_OF_FLOOR = 0.8;
const BLOCK = new Uint8Array(randomBytes(1024 * 1024));
const ROUNDS = 2;
const AT_ONCE = [1, 8];

/** One body up and down, and eight at once, beside the floor; servers take turns, and the best round of each counts. */
export async function measureStreams(): Promise<string> {
  const size = numberOf("BENCH_STREAM_MIB", Deno.env.get("BENCH_STREAM_MIB"), 1024) * 2 ** 20;
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  const floorFolder = await Deno.makeTempDir({ prefix: "stackroom-bench-floor-" });
  const servers: MeasuredServer[] = [];
  try {
    servers.push(await startFloor(floorFolder), await startEmbedded(folder), ...await givenServers());
    const rows = [[
      `${size / 2 ** 20} MiB`,
      "MB/s",
      "of the floor",
      "CPU s per GiB",
      "of the floor",
      "RSS growth",
      "to reach",
      "reached",
    ]];
    for (const count of AT_ONCE) {
      for (const method of ["PUT", "GET"] as const) {
        const best = new Map<MeasuredServer, Figures>();
        for (let round = 0; round < ROUNDS; round++) {
          for (const server of servers) {
            best.set(server, better(best.get(server), await measured(server, method, count, size)));
          }
        }
        const floor = best.get(servers[0]);
        for (const [server, figures] of best) {
          const name = `${server.name}, ${count} ${method === "PUT" ? "up" : "down"}`;
          const isOurs = server === servers[1];
          rows.push([name, ...shown(figures, floor), ...isOurs && floor ? ofFloor(figures, floor) : ["", ""]]);
        }
      }
    }
    return table(rows);
  } finally {
    for (const server of servers) await server.stop();
    await Deno.remove(folder, { recursive: true });
    await Deno.remove(floorFolder, { recursive: true });
  }
}

interface Figures {
  bytesPerSecond: number;
  cpuPerGiB: number | null;
  rssGrowth: number | null;
}

async function measured(server: MeasuredServer, method: "PUT" | "GET", count: number, size: number): Promise<Figures> {
  const start = performance.now();
  const { used } = await usedBy<unknown>(server.pid, () =>
    Promise.all(Array.from({ length: count }, async (_, n) => {
      const wire = new S3Wire(server);
      let received = 0;
      await wire.succeed({
        method,
        bucket: server.bucket,
        key: `streams${n}`,
        body: method === "PUT" ? { size, parts: blocks(size) } : null,
        onPart: (part) => received += part.length,
      });
      wire.close();
      if (method === "GET" && received !== size) throw new Error(`${server.name} gave ${received} bytes of ${size}`);
    })));
  const seconds = (performance.now() - start) / 1000;
  return figuresOf(used, count * size, seconds);
}

function figuresOf(used: Used | null, bytes: number, seconds: number): Figures {
  return {
    bytesPerSecond: bytes / seconds,
    cpuPerGiB: used && used.cpuSeconds / (bytes / 2 ** 30),
    rssGrowth: used && used.rssGrowth,
  };
}

/** The faster round; the memory of the worse one. */
function better(one: Figures | undefined, other: Figures): Figures {
  if (!one) return other;
  return {
    bytesPerSecond: Math.max(one.bytesPerSecond, other.bytesPerSecond),
    cpuPerGiB: one.cpuPerGiB === null || other.cpuPerGiB === null ? null : Math.min(one.cpuPerGiB, other.cpuPerGiB),
    rssGrowth: one.rssGrowth === null || other.rssGrowth === null ? null : Math.max(one.rssGrowth, other.rssGrowth),
  };
}

function ofFloor(figures: Figures, floor: Figures): string[] {
  const isReached = figures.bytesPerSecond >= LEAST_OF_FLOOR * floor.bytesPerSecond;
  return [`≥ ${LEAST_OF_FLOOR * 100}% of the floor's MB/s`, isReached ? "yes" : "NO"];
}

function shown(figures: Figures, floor: Figures | undefined): string[] {
  const { bytesPerSecond, cpuPerGiB, rssGrowth } = figures;
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  return [
    Math.round(bytesPerSecond / 1e6).toLocaleString("en"),
    floor ? percent(bytesPerSecond / floor.bytesPerSecond) : "-",
    cpuPerGiB === null ? "-" : cpuPerGiB.toFixed(2),
    cpuPerGiB === null || !floor?.cpuPerGiB ? "-" : percent(cpuPerGiB / floor.cpuPerGiB),
    rssGrowth === null ? "-" : `${Math.round(rssGrowth / 2 ** 20)} MiB`,
  ];
}

function* blocks(size: number): Generator<Uint8Array> {
  for (let sent = 0; sent < size; sent += BLOCK.length) yield BLOCK.subarray(0, Math.min(BLOCK.length, size - sent));
}
