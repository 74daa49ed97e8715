import { randomBytes } from "node:crypto";
import { ms, percentile, table } from "@/bench/table.ts";
import { usedBy } from "@/bench/process_figures.ts";
import { S3Wire } from "@/bench/wire/s3_wire.ts";
import { startHeadLoop } from "@/bench/loop_thread.ts";
import { givenServers, type MeasuredServer, startEmbedded } from "./servers.ts";

const CONNECTIONS = 32;
const BODY = new Uint8Array(randomBytes(1024));
const WARM_REQUESTS = 2_000;
const REQUESTS = 12_000;

/**
 * Durable puts of 1 KiB over 32 connections, and how long the head of another object takes meanwhile; the same with
 * reads instead of puts shows what of that is the load and what the commits.
 */
export async function measurePuts(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  const servers: MeasuredServer[] = [];
  try {
    servers.push(await startEmbedded(folder), ...await givenServers());
    const rows = [[
      `1 KiB, ${CONNECTIONS} connections`,
      "per second",
      "p50",
      "p99",
      "max",
      "CPU each",
      "HEAD beside it p50",
      "p99",
      "max",
    ]];
    for (const server of servers) {
      for (const method of ["PUT", "GET"] as const) {
        await run(server, method, WARM_REQUESTS);
        rows.push([`${server.name} ${method}`, ...await measured(server, method)]);
      }
    }
    return table(rows);
  } finally {
    for (const server of servers) await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

async function measured(server: MeasuredServer, method: "PUT" | "GET"): Promise<string[]> {
  const wire = new S3Wire(server);
  await wire.succeed({ method: "PUT", bucket: server.bucket, key: "head", body: BODY });
  wire.close();
  const heads = startHeadLoop(server, server.bucket, "head");
  const start = performance.now();
  const { result, used } = await usedBy(server.pid, () => run(server, method, REQUESTS));
  const seconds = (performance.now() - start) / 1000;
  const delays = await heads.stop();
  return [
    Math.round(REQUESTS / seconds).toLocaleString("en"),
    ms(percentile(result, 0.5)),
    ms(percentile(result, 0.99)),
    ms(percentile(result, 1)),
    used ? `${(used.cpuSeconds * 1000 / REQUESTS).toFixed(3)} ms` : "-",
    ms(percentile(delays, 0.5)),
    ms(percentile(delays, 0.99)),
    ms(percentile(delays, 1)),
  ];
}

/** Sends so many requests over all connections and gives their durations in ms. */
async function run(server: MeasuredServer, method: "PUT" | "GET", requests: number): Promise<number[]> {
  const durations: number[] = [];
  let next = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const wire = new S3Wire(server);
    for (let n = next++; n < requests; n = next++) {
      const key = `puts/${n % WARM_REQUESTS}-${method === "PUT" ? Math.floor(n / WARM_REQUESTS) : 0}`;
      const start = performance.now();
      await wire.succeed({ method, bucket: server.bucket, key, body: method === "PUT" ? BODY : null });
      durations.push(performance.now() - start);
    }
    wire.close();
  }));
  return durations;
}
