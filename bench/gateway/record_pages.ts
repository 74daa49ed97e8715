import { atMost, ms, table } from "@/bench/table.ts";
import { residentBytes, usedBy } from "@/bench/process_figures.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { median, ROUNDS } from "./load.ts";
import { type AskedServer, pages, startSideBySide } from "./servers.ts";
import { RECORDS } from "./upstream_records.ts";

const PAGE = 1_000;
/** Allowed growth between garbage collections, MiB. */
const MOST_GROWTH_MIB = 16;
/** Passes before memory is looked at: a heap finds its size first. */
const WARM_PASSES = 6;

/** All users and namespaces in pages of 1000, again and again: memory must not grow with them. */
export async function measurePages(): Promise<string> {
  const { gateway, stop } = await startSideBySide();
  try {
    const rows = [[
      `${RECORDS.toLocaleString("en")} in pages of ${PAGE}`,
      "CPU a page",
      "RSS before",
      "RSS growth",
      "to reach",
      "reached",
    ]];
    for (const list of ["userAccounts", "namespaces"] as const) {
      for (const verbose of [false, true]) {
        const targets = pages(list, PAGE).map((page) => gateway.record(`${page}&verbose=${verbose}`));
        for (let pass = 0; pass < WARM_PASSES; pass++) await walk(gateway, targets);
        const before = residentBytes(gateway.pid);
        const cpu: number[] = [];
        const after: number[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          const { used } = await usedBy(gateway.pid, () => walk(gateway, targets));
          cpu.push((used?.cpuSeconds ?? NaN) * 1000 / targets.length);
          after.push(residentBytes(gateway.pid));
        }
        const growth = (median(after) - before) / 2 ** 20;
        rows.push([
          `${list}${verbose ? ", verbose" : ""}`,
          ms(median(cpu)),
          `${Math.round(before / 2 ** 20)} MiB`,
          `${growth.toFixed(1)} MiB`,
          ...atMost(growth, MOST_GROWTH_MIB, " MiB"),
        ]);
      }
    }
    return table(rows);
  } finally {
    await stop();
  }
}

async function walk(gateway: AskedServer, targets: readonly string[]): Promise<void> {
  const connection = new HttpConnection(gateway.origin);
  for (const target of targets) {
    const { status } = await connection.request("GET", target, gateway.headers);
    if (status !== 200) throw new Error(`${target} was answered with ${status}`);
  }
  connection.close();
}
