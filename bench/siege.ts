/**
 * Attacks the application from another address than its user's and looks what the user notices:
 * `deno task bench siege [--seconds N] [--only NAME]`. Ends with 1 when the user waits too long or memory stays taken.
 */
import { fileURLToPath } from "node:url";
import { ATTACKS } from "@/bench/siege/attacks.ts";
import type { Tally } from "@/bench/siege/hostile_connections.ts";
import { type Experience, SiegeUser } from "@/bench/siege/user.ts";
import { startApplication } from "@/tests/application.ts";
import { numberOf, refuseArguments, toolArguments } from "@/tools/arguments.ts";
import { ms, percentile, table } from "./table.ts";
import { residentBytes } from "./process_figures.ts";

const DEFAULT_SECONDS = 300;
const ATTACKER = "127.0.0.2";
/** Share of the whole time that the user has alone at first: once to warm up, once to measure. */
const IDLE_SHARE = 0.1;
/** After the last attack until memory is looked at, seconds. */
const SETTLE_SECONDS = 60;
/** The user's p99 may be so many times the idle one, memory after the siege so much of what it was before. */
const MAX_P99_RATIO = 3;
const MAX_RSS_RATIO = 1.25;
const MIB = 1024 * 1024;

const { options } = toolArguments("deno task bench siege [--seconds N] [--only NAME]", {
  options: ["seconds", "only"],
});
const seconds = numberOf("--seconds", options.seconds, DEFAULT_SECONDS);
const attacks = ATTACKS.filter(({ name }) => name.includes(options.only ?? ""));
if (attacks.length === 0) refuseArguments(`--only takes a part of: ${ATTACKS.map(({ name }) => name).join("; ")}`);

const application = await startApplication();
const problems: string[] = [];
try {
  const user = await SiegeUser.logIn(application.site);
  await during(user, seconds * IDLE_SHARE);
  const idle = await during(user, seconds * IDLE_SHARE);
  const before = residentBytes(application.pid);
  const idleP99 = percentile(idle.durations, 0.99);
  const rows = [["attack", "user p50", "p99", "p99/idle", "failures", "RSS", "attacker got"], row("none", idle, 1, {})];
  for (const { name } of attacks) {
    const attackSeconds = seconds / attacks.length;
    const [seen, tally] = await Promise.all([during(user, attackSeconds), attacker(name, attackSeconds)]);
    const ratio = percentile(seen.durations, 0.99) / idleP99;
    rows.push(row(name, seen, ratio, tally));
    if (ratio > MAX_P99_RATIO) problems.push(`${name}: the user's p99 is ${ratio.toFixed(1)} times the idle one`);
    if (seen.durations.length === 0) problems.push(`${name}: no request of the user ended`);
    if (Object.keys(tally).length === 0) problems.push(`${name}: the attacker did nothing`);
    if (seen.failures > 0) problems.push(`${name}: ${seen.failures} of the user's requests failed`);
  }
  console.log(table(rows));
  const settle = Math.min(SETTLE_SECONDS, seconds);
  await during(user, settle);
  const after = residentBytes(application.pid);
  const ratio = after / before;
  const memory = `RSS ${mib(before)} before, ${mib(after)} ${settle} s after: ${ratio.toFixed(2)}`;
  console.log(memory);
  if (ratio > MAX_RSS_RATIO) problems.push(memory);
} finally {
  await application.stop();
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length > 0 ? 1 : 0);

function during(user: SiegeUser, seconds: number): Promise<Experience> {
  return user.use(AbortSignal.timeout(seconds * 1000));
}

async function attacker(name: string, seconds: number): Promise<Tally> {
  const { hostname, port } = new URL(application.site);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", "deno.test.json", "-A", "bench/siege/attacker.ts"].concat(
      [name, String(seconds), hostname, port, ATTACKER],
    ),
    cwd: fileURLToPath(new URL("../", import.meta.url)),
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

function row(name: string, { durations, failures }: Experience, ratio: number, tally: Tally): string[] {
  const got = Object.entries(tally).map(([outcome, count]) => `${count} x ${outcome}`).join(", ");
  const [p50, p99] = [0.5, 0.99].map((share) => ms(percentile(durations, share)));
  return [name, p50, p99, ratio.toFixed(2), String(failures), mib(residentBytes(application.pid)), got];
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
