import { table, type Verdict, verdictRows } from "./table.ts";

interface BoundedRun {
  /** The longest that all measures may take together, s. */
  readonly seconds: number;
  /** The arguments of the runtime before the name of a measure. */
  readonly program: readonly string[];
  readonly print?: (text: string) => void;
}

/** Sizes that a run of everything has time for; each measure alone takes its own. */
const SMALLER = { BENCH_STREAM_MIB: "256", UPLOAD_GIB: "1" };
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];
/** Seconds until a measure that ignores SIGTERM is killed. */
const END_SECONDS = 5;
/** The exit status of `timeout` for a command that took too long. */
const TIMED_OUT = [124, 137];

/**
 * Runs each measure in a process of its own, and ends it and all that it started when its time is over: an equal share of
 * what is left when it begins. Prints what they print, and at the end one table of all verdicts.
 *
 * @param measures their names, such as `store.measurePuts`
 * @returns whether each measure ended in time and reached what it should, and any had a verdict
 */
export async function runBounded(
  measures: readonly string[],
  { seconds: allSeconds, program, print = console.log }: BoundedRun,
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
  const endAt = performance.now() + allSeconds * 1000;
  try {
    for (const [n, name] of measures.entries()) {
      const file = `${folder}/${n}.json`;
      const startedAt = performance.now();
      const seconds = Math.max(1, Math.round((endAt - startedAt) / 1000 / (measures.length - n)));
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
  return missed === 0 && verdicts.length > 0;
}

function readVerdicts(file: string): Verdict[] {
  return JSON.parse(Deno.readTextFileSync(file));
}
