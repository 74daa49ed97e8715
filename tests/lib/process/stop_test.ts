import assert from "node:assert/strict";

const MODULE = new URL("../../../lib/process/stop.ts", import.meta.url).href;

/** Runs a program in a process of its own, in which `stop` begins the stop after a fault. */
async function run(program: string): Promise<{ readonly code: number; readonly output: string }> {
  const source = `
    import { stopOnSignals } from ${JSON.stringify(MODULE)};
    const forever = setInterval(() => {}, 1000);
    const stop = stopOnSignals({
      async finish() {
        console.log("begins");
        await new Promise((resolve) => setTimeout(resolve));
        console.log("finished");
      },
      cut() {},
      last: () => console.log("last"),
    }, new Promise(() => {}));
    ${program}`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, source);
    const args = ["run", "--no-config", "--no-check", "-A", file];
    const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
    return { code, output: new TextDecoder().decode(stdout) };
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("stop: a fault finishes what is under way, as a signal does, and ends with 1", async () => {
  assert.deepEqual(await run("stop();"), { code: 1, output: "begins\nfinished\nlast\n" });
  assert.deepEqual(await run('Deno.kill(Deno.pid, "SIGTERM");'), { code: 0, output: "begins\nfinished\nlast\n" });
});

Deno.test("stop: further faults while it stops do not cut it short", async () => {
  // Each reading of the clock is later than what counts as the same signal.
  const program = "let now = 0; performance.now = () => now += 5000; stop(); stop();";
  assert.deepEqual(await run(program), { code: 1, output: "begins\nfinished\nlast\n" });
});
