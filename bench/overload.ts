/**
 * Sends more requests than the application can serve (open loop, by vegeta), and checks which are admitted:
 * `deno task bench overload --vegeta PROGRAM [--seconds N] [--rate N] [--idle N]`. It needs Linux, `taskset` and two
 * processors. Ends with 1 where a row of the verdict is missed.
 */
import { IdleConnections } from "@/bench/overload/idle_connections.ts";
import { attack, type Outcome } from "@/bench/overload/vegeta.ts";
import { overloadWorld } from "@/bench/overload/world.ts";
import { numberOf, toolArguments } from "@/tools/arguments.ts";
import { percentile, table } from "./table.ts";
import { cpuSeconds, residentBytes } from "./process_figures.ts";

const DEFAULT_SECONDS = 300;
const DEFAULT_IDLE = 10_000;
const APPLICATION_CPU = 0;
const GENERATOR_CPU = 1;
const UNLOADED_RATE = 20;
const MAX_P99_RATIO = 3;
const RECOVERY_SECONDS = 5;
const SEARCH_SECONDS = 8;
const FIRST_RATE = 100;
const MIB = 1024 * 1024;

const { options } = toolArguments(
  "deno task bench overload --vegeta PROGRAM [--seconds N] [--rate N] [--idle N]",
  { options: ["vegeta", "seconds", "rate", "idle"] },
);
const vegeta = options.vegeta ?? "vegeta";
const seconds = numberOf("--seconds", options.seconds, DEFAULT_SECONDS);
const idleCount = numberOf("--idle", options.idle, DEFAULT_IDLE, 0);
const givenRate = options.rate === undefined ? null : numberOf("--rate", options.rate, 0);
const world = await overloadWorld(APPLICATION_CPU);
const { application, targets } = world;
const rows = [[
  ...["what", "rate/s", "admitted/s", "p50", "p99", "of unloaded", "HEAD p99", "refused", "p99", "no Retry-After"],
  ...["failed", "CPU", "RSS MiB"],
]];
const problems: string[] = [];
try {
  await phase("warm-up", 60, 5);
  using idle = await IdleConnections.open(application.site, idleCount);
  const unloaded = admittedP99(await phase("unloaded", UNLOADED_RATE, Math.max(15, seconds / 10)));
  const rate = givenRate ?? await sustainableRate(unloaded);
  await phase("sustainable", rate, Math.max(10, seconds / 10), unloaded);
  verdict("3 times", await phase("3 times", 3 * rate, seconds, unloaded), unloaded);
  await phase("10 times", 10 * rate, Math.max(10, seconds / 10), unloaded);
  const after = await phase("recovery", rate / 2, RECOVERY_SECONDS * 3, unloaded);
  console.log("not served in each second after: " + perSecond(after).join(" "));
  if (idleCount > 0) console.log(`${await idle.serving()} of ${idleCount} idle connections serve`);
} finally {
  console.log(table(rows));
  await application.stop();
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length > 0 ? 1 : 0);

async function phase(what: string, rate: number, seconds: number, unloaded?: number): Promise<Outcome[]> {
  const before = cpuSeconds(application.pid);
  const outcomes = await attack({ program: vegeta, cpu: GENERATOR_CPU, targets, rate, seconds });
  const admitted = outcomes.filter(isServed).map(({ ms }) => ms);
  const heads = outcomes.filter(({ kind, status }) => kind === "HEAD" && status === 200).map(({ ms }) => ms);
  const refused = outcomes.filter(({ status }) => status === 503);
  const failed = Map.groupBy(
    outcomes.filter((outcome) => outcome.status !== 503 && !isServed(outcome)),
    ({ status, error }) => `${status} ${error.slice(0, 80)}`,
  );
  if (admitted.length === 0) problems.push(`${what}: no request was admitted`);
  const p99 = percentile(admitted, 0.99);
  rows.push([
    what,
    String(Math.round(rate)),
    String(Math.round(admitted.length / seconds)),
    percentile(admitted, 0.5).toFixed(1),
    p99.toFixed(1),
    unloaded ? (p99 / unloaded).toFixed(1) : "",
    percentile(heads, 0.99).toFixed(1),
    String(refused.length),
    percentile(refused.map(({ ms }) => ms), 0.99).toFixed(1),
    String(refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length),
    [...failed].map(([error, found]) => `${found.length} x ${error}`).join("; "),
    ((cpuSeconds(application.pid) - before) / seconds).toFixed(2),
    String(Math.round(residentBytes(application.pid) / MIB)),
  ]);
  console.log(`${rows.at(-1)!.join(" | ")} (p99: ${byKind(outcomes)})`);
  return outcomes;
}

function admittedP99(outcomes: readonly Outcome[]): number {
  return percentile(outcomes.filter(isServed).map(({ ms }) => ms), 0.99);
}

/** The highest rate at which nearly nothing is refused and p99 is at most three times the unloaded one, to 10 %. */
async function sustainableRate(unloaded: number): Promise<number> {
  const holds = async (rate: number) => {
    const outcomes = await phase("search", rate, SEARCH_SECONDS, unloaded);
    const served = outcomes.filter(isServed).length;
    return served >= outcomes.length * 0.999 && admittedP99(outcomes) <= MAX_P99_RATIO * unloaded;
  };
  let low = FIRST_RATE;
  while (await holds(low * 2)) low *= 2;
  let high = low * 2;
  while (high / low > 1.1) {
    const middle = Math.round(Math.sqrt(low * high));
    if (await holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function verdict(what: string, outcomes: readonly Outcome[], unloaded: number): void {
  const ratio = admittedP99(outcomes) / unloaded;
  if (ratio > MAX_P99_RATIO) {
    problems.push(`${what}: p99 of admitted requests is ${ratio.toFixed(1)} times the unloaded`);
  }
}

/** p99 by kind of request, ms: which of them the whole one comes from. */
function byKind(outcomes: readonly Outcome[]): string {
  const kinds = Map.groupBy(outcomes.filter(isServed), ({ kind }) => kind);
  return Array.from(kinds, ([kind, of]) => `${kind} ${percentile(of.map(({ ms }) => ms), 0.99).toFixed(1)}`).join(", ");
}

function isServed({ status }: Outcome): boolean {
  return status >= 200 && status < 400;
}

/** Rejected requests in each second. */
function perSecond(outcomes: readonly Outcome[]): number[] {
  const first = Math.min(...outcomes.map(({ at }) => at));
  const counts: number[] = [];
  for (const outcome of outcomes) {
    const second = Math.floor((outcome.at - first) / 1000);
    counts[second] ??= 0;
    if (!isServed(outcome)) counts[second]++;
  }
  return counts;
}
