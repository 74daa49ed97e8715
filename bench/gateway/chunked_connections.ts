import { all, atMost, ms, percentile, table, times } from "@/bench/table.ts";
import { usedBy } from "@/bench/process_figures.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { median } from "./load.ts";
import { startRequestLoop } from "@/bench/loop_thread.ts";
import { type AskedServer, loginRequest, startSideBySide } from "./servers.ts";

const MIB = 2 ** 20;
/** Chunked requests as curl and httpx send them. */
const CHUNK = new Uint8Array(64 * 1024).fill(0x64);
const SIZES = [64 * MIB, 512 * MIB];
const ROUNDS = 3;
const MOST_OF_MEASURED = 2.5;
const MOST_OF_FRESH = 1.1;
const MOST_P999_MS = 20;
const MOST_WORST_MS = 60;

type Earlier = "with a length" | "fresh" | "after a login" | "after a PUT";
const CONNECTIONS: readonly Earlier[] = ["with a length", "fresh", "after a login", "after a PUT"];

interface Figures {
  readonly cpuPerGib: number;
  readonly durations: readonly number[];
}

/** Chunked bodies on connections of several pasts, beside one with a length and the answers to others meanwhile. */
export async function measureChunkedConnections(): Promise<string> {
  const { gateway, stop } = await startSideBySide();
  try {
    const rows = [[
      "chunked body",
      "CPU s per GiB",
      "of one with a length",
      "HEAD p99.9",
      "worst",
      "to reach",
      "reached",
    ]];
    for (const earlier of CONNECTIONS) await upload(gateway, earlier, SIZES[0]);
    for (const size of SIZES) {
      const cpu = new Map<Earlier, number>();
      for (const earlier of CONNECTIONS) {
        const rounds: Figures[] = [];
        for (let round = 0; round < ROUNDS; round++) rounds.push(await upload(gateway, earlier, size));
        const durations = rounds.flatMap((figures) => figures.durations);
        cpu.set(earlier, median(rounds.map(({ cpuPerGib }) => cpuPerGib)));
        const own = cpu.get(earlier) ?? NaN;
        const ofMeasured = own / (cpu.get("with a length") ?? NaN);
        const ofFresh = own / (cpu.get("fresh") ?? own);
        const [p999, worst] = [percentile(durations, 0.999), Math.max(...durations)];
        rows.push([
          `${size / MIB} MiB, ${earlier}`,
          own.toFixed(2),
          times(ofMeasured),
          ms(p999),
          ms(worst),
          ...all(
            atMost(ofMeasured, MOST_OF_MEASURED, " x"),
            atMost(ofFresh, MOST_OF_FRESH, " x fresh"),
            atMost(p999, MOST_P999_MS, " ms"),
            atMost(worst, MOST_WORST_MS, " ms"),
          ),
        ]);
      }
    }
    return table(rows);
  } finally {
    await stop();
  }
}

async function upload(server: AskedServer, earlier: Earlier, size: number): Promise<Figures> {
  const connection = new HttpConnection(server.origin);
  const send = async (method: string, target: string, headers: AskedServer["headers"], body: Sent) => {
    const { status } = await connection.request(method, target, headers, body);
    if (status !== 200) throw new Error(`${server.name}: ${method} ${target} was answered with ${status}`);
  };
  // Parts go in packets of their own, the head before them.
  if (earlier === "after a login") {
    const { method, target, headers, body } = loginRequest;
    await send(method, target, headers, { size: body.length, parts: [body] });
  }
  if (earlier === "after a PUT") {
    await send("PUT", server.object("earlier"), server.headers, { size: MIB, parts: chunks(MIB) });
  }
  const loop = startRequestLoop(server.origin, {
    method: "HEAD",
    target: server.object("small"),
    headers: server.headers,
  });
  const body = { size: earlier === "with a length" ? size : null, parts: chunks(size) };
  const { used } = await usedBy(server.pid, () => send("PUT", server.object("chunked"), server.headers, body));
  connection.close();
  return { cpuPerGib: (used?.cpuSeconds ?? NaN) / (size / 2 ** 30), durations: await loop.stop() };
}

type Sent = { size: number | null; parts: Iterable<Uint8Array> };

function* chunks(size: number): Iterable<Uint8Array> {
  for (let left = size; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}
