import { all, atMost, ms, table, times } from "@/bench/table.ts";
import { inTurns, load, median, type Repeated, WARM_ROUNDS } from "./load.ts";
import { type AskedServer, startSideBySide } from "./servers.ts";

const CONNECTIONS = 32;
const REQUESTS = 3_000;
/** More than usual: single rounds of requests so short differ by a tenth. */
const ROUNDS = 9;

interface HandedOn {
  readonly name: string;
  readonly request: (server: AskedServer) => Repeated;
  /** Largest allowed multiple of the floor's processor time. */
  readonly most: number;
}

const KINDS: readonly HandedOn[] = [
  { name: "HEAD", request: (server) => objectRequest(server, "HEAD"), most: 2.6 },
  { name: "GET 1 KiB", request: (server) => objectRequest(server, "GET"), most: 2.6 },
  { name: "MAPI record", request: recordRequest, most: 2.6 },
];
const MOST_P99 = 2.5;

/** Small requests that go on to the store: beside the floor, over 32 connections. */
export async function measureSmall(): Promise<string> {
  const { direct, floor, gateway, stop } = await startSideBySide();
  try {
    const rows = [[
      `${CONNECTIONS} connections`,
      "gateway CPU",
      "floor CPU",
      "store CPU",
      "of the floor",
      "gateway p99",
      "floor p99",
      "direct p99",
      "of the floor's",
      "to reach",
      "reached",
    ]];
    for (const { name, request, most } of KINDS) {
      const [straight, least, ours] = await inTurns(
        [direct, floor, gateway],
        (server, warming) =>
          load(server, request(server), {
            requests: warming ? WARM_ROUNDS * REQUESTS : REQUESTS,
            connections: CONNECTIONS,
          }),
        ROUNDS,
      );
      const cpu = median(ours.map(({ cpuMs }, round) => cpuMs / least[round].cpuMs));
      const p99 = median(ours.map(({ p99 }, round) => p99 / least[round].p99));
      rows.push([
        name,
        ...[ours, least, straight].map((figures) => `${median(figures.map(({ cpuMs }) => cpuMs)).toFixed(3)} ms`),
        times(cpu),
        ...[ours, least, straight].map((figures) => ms(median(figures.map(({ p99 }) => p99)))),
        times(p99),
        ...all(atMost(cpu, most, " x CPU"), atMost(p99, MOST_P99, " x p99")),
      ]);
    }
    return table(rows);
  } finally {
    await stop();
  }
}

function objectRequest(server: AskedServer, method: "HEAD" | "GET"): Repeated {
  return { method, target: server.object("letters/1780.txt"), headers: server.headers };
}

function recordRequest(server: AskedServer): Repeated {
  return { method: "GET", target: server.record("userAccounts/entry-0"), headers: server.headers };
}
