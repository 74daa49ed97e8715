import { all, atMost, ms, table } from "@/bench/table.ts";
import { inTurns, load, type LoadFigures, median, type Repeated, ROUNDS, WARM_ROUNDS } from "./load.ts";
import { startRequestLoop } from "@/bench/loop_thread.ts";
import { type AskedServer, BUCKET, loginRequest, startSideBySide } from "./servers.ts";

interface Computed {
  readonly name: string;
  readonly request: (gateway: AskedServer) => Repeated;
  readonly requests: number;
  readonly connections: number;
  /** Processor time of one answer, ms. */
  readonly most: number;
  /** Whether other requests are watched meanwhile. */
  readonly long?: true;
}

const MOST_DELAY_MS = 10;
const MANY_KEYS = 1_000;
const PARTS = 10_000;
const PART_BYTES = 5 * 2 ** 20;

const KINDS: readonly Computed[] = [
  { name: "token", request: () => loginRequest, requests: 3_000, connections: 8, most: 0.1 },
  { name: "401", request: unknownCaller, requests: 3_000, connections: 8, most: 0.1 },
  { name: "presign one", request: presignOne, requests: 3_000, connections: 8, most: 0.1 },
  { name: "list of 1000", request: listing, requests: 100, connections: 4, most: 3 },
  { name: "1000 presigned keys", request: presignKeys, requests: 30, connections: 1, most: 20, long: true },
  { name: "10,000 part URLs", request: presignParts, requests: 6, connections: 1, most: 300, long: true },
];

/** Work that the gateway computes itself, and the delay that it causes for others. */
export async function measureComputed(): Promise<string> {
  const { gateway, stop } = await startSideBySide();
  try {
    const rows = [[
      "work",
      "CPU",
      "worst round",
      "HEAD beside it, longest",
      "idle, longest",
      "delay",
      "to reach",
      "reached",
    ]];
    for (const kind of KINDS) {
      const waits = kind.long ? await besideOthers(gateway, kind) : [];
      const figures = kind.long ? waits : await alone(gateway, kind);
      const cpu = figures.map(({ cpuMs }) => cpuMs);
      const delay = median(waits.map(({ busy, idle }) => Math.max(0, busy - idle)));
      const verdict = atMost(median(cpu), kind.most, " ms");
      rows.push([
        kind.name,
        cpuText(median(cpu)),
        cpuText(Math.max(...cpu)),
        ...waits.length > 0
          ? [ms(median(waits.map(({ busy }) => busy))), ms(median(waits.map(({ idle }) => idle))), ms(delay)]
          : ["-", "-", "-"],
        ...waits.length > 0 ? all(verdict, atMost(delay, MOST_DELAY_MS, " ms delay")) : verdict,
      ]);
    }
    return table(rows);
  } finally {
    await stop();
  }
}

async function alone(gateway: AskedServer, { request, requests, connections }: Computed): Promise<LoadFigures[]> {
  const [figures] = await inTurns(
    [request(gateway)],
    (one, warming) => load(gateway, one, { requests: warming ? WARM_ROUNDS * requests : requests, connections }),
  );
  return figures;
}

/** The same while another client looks at an object's head again and again, then for as long alone. */
async function besideOthers(gateway: AskedServer, { request, requests, connections }: Computed) {
  const head: Repeated = { method: "HEAD", target: gateway.object("letters/1780.txt"), headers: gateway.headers };
  const repeated = request(gateway);
  await load(gateway, repeated, { requests, connections });
  const figures: (LoadFigures & { busy: number; idle: number })[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Processor time is taken without the other client's requests in it.
    const { cpuMs, p99 } = await load(gateway, repeated, { requests, connections });
    const loop = startRequestLoop(gateway.origin, head);
    const start = performance.now();
    await load(gateway, repeated, { requests, connections });
    const lasted = performance.now() - start;
    const busy = Math.max(...settled(await loop.stop()));
    // The longest of many is compared with the longest of as many.
    const quiet = startRequestLoop(gateway.origin, head);
    await new Promise((resume) => setTimeout(resume, lasted));
    figures.push({ cpuMs, p99, busy, idle: Math.max(...settled(await quiet.stop())) });
  }
  return figures;
}

/** Without the first requests of a thread, which compile it. */
function settled(durations: readonly number[]): readonly number[] {
  return durations.slice(3);
}

function cpuText(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 1 ? 3 : 1)} ms`;
}

function unknownCaller(gateway: AskedServer): Repeated {
  return {
    method: "GET",
    target: gateway.object("letters/1780.txt"),
    headers: [["authorization", `${gateway.headers[0][1]}x`]],
    status: 401,
  };
}

function presignOne(gateway: AskedServer): Repeated {
  return posted(gateway, "/api/v1/presign", { bucket: BUCKET, key: "letters/1780.txt" });
}

function listing(gateway: AskedServer): Repeated {
  return { method: "GET", target: `/api/v1/buckets/${BUCKET}/objects`, headers: gateway.headers };
}

function presignKeys(gateway: AskedServer): Repeated {
  const keys = Array.from({ length: MANY_KEYS }, (_, n) => `volumes/${n}/R0000459_0000${n % 10}.xml`);
  return posted(gateway, `/api/v1/buckets/${BUCKET}/objects/presign`, { keys });
}

function presignParts(gateway: AskedServer): Repeated {
  return posted(gateway, `/api/v1/buckets/${BUCKET}/multipart/film.mkv/presign`, {
    file_size: PARTS * PART_BYTES,
    part_size: PART_BYTES,
    upload_id: "VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRz",
  });
}

function posted(gateway: AskedServer, target: string, body: unknown): Repeated {
  return {
    method: "POST",
    target,
    headers: [...gateway.headers, ["content-type", "application/json"]],
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}
