import { table } from "./table.ts";
import { type Verdict, verdictRows } from "./verdict_table.ts";

/** A measure by its name, such as `store.measurePuts`. */
interface BoundedMeasure {
  readonly name: string;
  /** The longest that it may take, s. */
  readonly seconds: number;
}

/** Sizes that a run of everything has time for; each measure alone takes its own. */
const SMALLER = { BENCH_STREAM_MIB: "256", UPLOAD_GIB: "1" };
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];
/** How long a measure that was told to end may go on, s. */
const END_SECONDS = 5;
/** The exit status of `timeout` for a command that took too long. */
const TIMED_OUT = [124, 137];

/**
 * Runs each measure in a process of its own, and ends it and all that it started when its time is over. Prints what they
 * print, and at the end one table of all verdicts.
 *
 * @param program the arguments of the runtime before the name of a measure
 * @returns whether each measure ended in time, and reached what it should
 */
export async function runBounded(
  measures: readonly BoundedMeasure[],
  program: readonly string[],
  print: (text: string) => void = console.log,
): Promise<boolean> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-verdicts-" });
  const verdicts: (Verdict & { measure: string })[] = [];
  let [isStopped, stop] = [false, () => {}];
  // A terminal's Ctrl-C does not reach that group.
  const onSignal = () => {
    isStopped = true;
    stop();
  };
  for (const signal of SIGNALS) Deno.addSignalListener(signal, onSignal);
  try {
    for (const [n, { name, seconds }] of measures.entries()) {
      const file = `${folder}/${n}.json`;
      const startedAt = performance.now();
      const child = new Deno.Command("timeout", {
        // It makes a group of the measure and its servers, which a signal to the measure alone would leave behind.
        args: [`--kill-after=${END_SECONDS}`, `${seconds}`, Deno.execPath(), ...program, name],
        env: { ...SMALLER, BENCH_VERDICTS: file },
        stdin: "null",
        stdout: "inherit",
        stderr: "inherit",
      }).spawn();
      stop = () => child.kill("SIGTERM");
      const { code } = await child.status;
      if (isStopped) return false;
      const taken = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
      if (code === 0) verdicts.push(...readVerdicts(file).map((verdict) => ({ ...verdict, measure: name })));
      else {
        const reached = TIMED_OUT.includes(code) ? "NO: not over in time" : `NO: status ${code}`;
        verdicts.push({ measure: name, row: "the whole measure", figures: taken, toReach: `≤ ${seconds} s`, reached });
      }
      print(`${name}: ${taken}`);
    }
  } finally {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, onSignal);
    await Deno.remove(folder, { recursive: true });
  }
  print(`\n${table(verdictRows(verdicts))}`);
  const missed = verdicts.filter(({ reached }) => reached !== "yes").length;
  print(`\n${verdicts.length - missed} reached, ${missed} missed`);
  return missed === 0;
}

function readVerdicts(file: string): Verdict[] {
  return JSON.parse(Deno.readTextFileSync(file));
}
