import { stageFiles } from "./test_reports.ts";

/** How stages are run. */
export interface StageRun {
  /** Where each stage leaves its report and its exit status. */
  readonly folder: string;
  /** The arguments of the runtime for a stage that writes its JUnit report to this path. */
  readonly args: (stage: string, report: string) => readonly string[];
  /** Takes the stages' output, line by line. */
  readonly print: (line: string) => void;
  /** How long output is read after a stage has ended, ms: a process that it left behind may hold the pipes open. */
  readonly drainMs?: number;
}

const DRAIN_MS = 5000;
const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM"];

/**
 * Runs the stages one after the other, also after one that failed. SIGINT and SIGTERM are passed on to the stage under
 * way, and no further one is started.
 *
 * @returns the highest exit status
 */
export async function runStages(stages: readonly string[], run: StageRun): Promise<number> {
  let running: Deno.ChildProcess | null = null;
  let isStopped = false;
  const stop = SIGNALS.map((signal) => () => {
    isStopped = true;
    try {
      running?.kill(signal);
    } catch {
      // It has ended already.
    }
  });
  SIGNALS.forEach((signal, n) => Deno.addSignalListener(signal, stop[n]));
  try {
    // Reports of an earlier run would be counted for stages that write none.
    for (const stage of stages) {
      for (const file of Object.values(stageFiles(run.folder, stage))) await Deno.remove(file).catch(notFound);
    }
    let worst = 0;
    for (const stage of stages) {
      if (isStopped) return Math.max(worst, 1);
      worst = Math.max(worst, await runStage(stage, run, (child) => running = child));
    }
    return worst;
  } finally {
    SIGNALS.forEach((signal, n) => Deno.removeSignalListener(signal, stop[n]));
  }
}

async function runStage(stage: string, run: StageRun, started: (child: Deno.ChildProcess) => void): Promise<number> {
  const files = stageFiles(run.folder, stage);
  const child = new Deno.Command(Deno.execPath(), {
    args: [...run.args(stage, files.report)],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  started(child);
  const print = (line: string) => run.print(`[${stage}] ${line}`);
  const late = new AbortController();
  const printed = Promise.all([child.stdout, child.stderr].map((stream) => printLines(stream, print, late.signal)));
  const { code } = await child.status;
  const timer = setTimeout(() => late.abort(), run.drainMs ?? DRAIN_MS);
  await printed.finally(() => clearTimeout(timer));
  await Deno.writeTextFile(files.code, String(code));
  return code;
}

/** Prints whole lines, so that those of its two streams do not mix; what has come by the abort is all. */
async function printLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let rest = "";
  try {
    for await (const text of stream.pipeThrough(new TextDecoderStream(), { signal })) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(print);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (rest !== "") print(rest);
}

function notFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
