import { numberOf } from "@/tools/arguments.ts";
import { usedBy, writtenBytes } from "@/bench/process_figures.ts";
import { all, atMost, table } from "@/bench/table.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { inTurns, median } from "./load.ts";
import { type AskedServer, startSideBySide } from "./servers.ts";

const BLOCK = new Uint8Array(1024 * 1024).fill(0x63);
const AT_ONCE = [1, 8];
const WARM_BYTES = 32 * 2 ** 20;
const LEAST_OF_FLOOR = 0.9;
const MOST_CPU_PER_GIB = 0.8;
const MOST_GROWTH_MIB = 64;

/** One body of BENCH_STREAM_MIB (1024) down and up, and eight at once, beside the floor and the store itself. */
export async function measureStreams(): Promise<string> {
  const size = numberOf("BENCH_STREAM_MIB", Deno.env.get("BENCH_STREAM_MIB"), 1024) * 2 ** 20;
  const { direct, floor, gateway, stop } = await startSideBySide();
  try {
    const rows = [[
      `${size / 2 ** 20} MiB`,
      "gateway MB/s",
      "floor MB/s",
      "direct MB/s",
      "of the floor",
      "CPU s per GiB",
      "floor's",
      "RSS growth",
      "floor's",
      "on disk",
      "to reach",
      "reached",
    ]];
    for (const count of AT_ONCE) {
      for (const method of ["GET", "PUT"] as const) {
        const [straight, least, ours] = await inTurns(
          [direct, floor, gateway],
          (server, warming) => streamed(server, method, count, warming ? WARM_BYTES : size),
        );
        const share = median(ours.map(({ bytesPerSecond }, round) => bytesPerSecond / least[round].bytesPerSecond));
        const cpu = median(ours.map(({ cpuPerGiB }) => cpuPerGiB));
        const growth = Math.max(...ours.map(({ rssGrowth }) => rssGrowth)) / 2 ** 20;
        const disk = Math.max(...ours.map(({ onDisk }) => onDisk));
        rows.push([
          `${count} ${method === "GET" ? "down" : "up"}`,
          ...[ours, least, straight].map((figures) => perSecond(figures.map((one) => one.bytesPerSecond))),
          `${Math.round(share * 100)}%`,
          cpu.toFixed(2),
          median(least.map(({ cpuPerGiB }) => cpuPerGiB)).toFixed(2),
          `${growth.toFixed(1)} MiB`,
          `${(Math.max(...least.map(({ rssGrowth }) => rssGrowth)) / 2 ** 20).toFixed(1)} MiB`,
          `${disk} B`,
          ...all(
            [`≥ ${LEAST_OF_FLOOR * 100}%`, share >= LEAST_OF_FLOOR ? "yes" : "NO"],
            atMost(cpu, MOST_CPU_PER_GIB, " s"),
            atMost(growth, MOST_GROWTH_MIB, " MiB"),
            atMost(disk, 0, " B"),
          ),
        ]);
      }
    }
    return table(rows);
  } finally {
    await stop();
  }
}

/** Sends bodies in parallel, one per connection. Throws if Content-Length or bytes are missing. */
async function streamed(server: AskedServer, method: "GET" | "PUT", count: number, size: number) {
  const start = performance.now();
  const before = writtenBytes(server.pid);
  const { used } = await usedBy(
    server.pid,
    () => Promise.all(Array.from({ length: count }, () => one(server, method, size))),
  );
  const seconds = (performance.now() - start) / 1000;
  return {
    bytesPerSecond: count * size / seconds,
    cpuPerGiB: (used?.cpuSeconds ?? NaN) / (count * size / 2 ** 30),
    rssGrowth: used?.rssGrowth ?? NaN,
    onDisk: writtenBytes(server.pid) - before,
  };
}

async function one(server: AskedServer, method: "GET" | "PUT", size: number): Promise<void> {
  const connection = new HttpConnection(server.origin);
  let received = 0;
  const { status, headers } = await connection.request(
    method,
    server.object(`bytes-${size}`),
    server.headers,
    method === "PUT" ? { size, parts: blocks(size) } : null,
    (part) => received += part.length,
  );
  connection.close();
  if (status !== 200) throw new Error(`${server.name}: ${method} of ${size} bytes was answered with ${status}`);
  if (method === "GET" && (received !== size || headers.get("content-length") !== String(size))) {
    throw new Error(`${server.name}: ${received} bytes of ${size} came, announced as ${headers.get("content-length")}`);
  }
}

function* blocks(size: number): Iterable<Uint8Array> {
  for (let left = size; left > 0; left -= BLOCK.length) yield BLOCK.subarray(0, Math.min(left, BLOCK.length));
}

function perSecond(bytesPerSecond: readonly number[]): string {
  return Math.round(median(bytesPerSecond) / 1e6).toLocaleString("en");
}
