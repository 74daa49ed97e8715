import { numberOf } from "@/tools/arguments.ts";
import { residentBytes, usedBy } from "@/bench/process_figures.ts";
import { atMost, table } from "@/bench/table.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { median } from "./load.ts";
import { type AskedServer, startSideBySide } from "./servers.ts";

const BLOCK = new Uint8Array(256 * 1024).fill(0x64);
const AT_ONCE = [1, 8];
const ROUNDS = 5;
const SETTLING_BYTES = 2 ** 20;
const MOST_GROWTH_MIB = 64;

/**
 * BENCH_STREAM_MIB (1024) sent chunked, as one body and as eight at once: such bodies pass through memory part by part.
 * Growth is measured from the first such body, in a process that served only small requests before.
 */
export async function measureUnknownLengths(): Promise<string> {
  const size = numberOf("BENCH_STREAM_MIB", Deno.env.get("BENCH_STREAM_MIB"), 1024) * 2 ** 20;
  const rows = [[
    `${size / 2 ** 20} MiB, chunked`,
    "gateway MB/s",
    "CPU s per GiB",
    "RSS growth",
    "to reach",
    "reached",
  ]];
  for (const count of AT_ONCE) {
    const { gateway, stop } = await startSideBySide();
    try {
      // Small bodies are what the process is warm from.
      for (let n = 0; n < 200; n++) await upload(gateway, 1000);
      await upload(gateway, SETTLING_BYTES / 8);
      const before = residentBytes(gateway.pid);
      const speeds: number[] = [];
      const cpu: number[] = [];
      let highest = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now();
        const base = residentBytes(gateway.pid);
        const { used } = await usedBy(
          gateway.pid,
          () => Promise.all(Array.from({ length: count }, () => upload(gateway, size / count))),
        );
        speeds.push(size / (performance.now() - start) * 1000 / 1e6);
        cpu.push((used?.cpuSeconds ?? NaN) / (size / 2 ** 30));
        highest = Math.max(highest, base + (used?.rssGrowth ?? NaN) - before);
      }
      const growth = highest / 2 ** 20;
      rows.push([
        `${count} up`,
        Math.round(median(speeds)).toLocaleString("en"),
        median(cpu).toFixed(2),
        `${growth.toFixed(1)} MiB`,
        ...atMost(growth, MOST_GROWTH_MIB, " MiB"),
      ]);
    } finally {
      await stop();
    }
  }
  return table(rows);
}

async function upload(server: AskedServer, size: number): Promise<void> {
  const connection = new HttpConnection(server.origin);
  const body = { size: null, parts: blocks(size) };
  const { status } = await connection.request("PUT", server.object("unmeasured"), server.headers, body);
  connection.close();
  if (status !== 200) throw new Error(`${server.name}: a chunked body of ${size} bytes was answered with ${status}`);
}

function* blocks(size: number): Iterable<Uint8Array> {
  for (let left = size; left > 0; left -= BLOCK.length) yield BLOCK.subarray(0, Math.min(left, BLOCK.length));
}
