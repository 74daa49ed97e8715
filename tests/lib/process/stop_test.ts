import assert from "node:assert/strict";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const MODULE = new URL("../../../lib/process/stop.ts", import.meta.url).href;

/** Each reading of the clock is later than what counts as the same signal. */
const LATER = "let now = 0; performance.now = () => now += 5000;";
const HOUR_MS = 3_600_000;

/** Runs a program in a process of its own, in which `stop` begins the stop after a fault. */
async function run(program: string, delayMs = 0): Promise<{ readonly code: number; readonly output: string }> {
  const source = `
    import { stopOnSignals } from ${JSON.stringify(MODULE)};
    const forever = setInterval(() => {}, 1000);
    const parent = Promise.withResolvers();
    let announced = () => {};
    let left = () => {};
    const stop = stopOnSignals({
      delayMs: ${delayMs},
      announce() {
        console.log("announced");
        announced();
      },
      async finish(time) {
        console.log("begins");
        left(time);
        await new Promise((resolve) => setTimeout(resolve));
        console.log("finished");
      },
      cut() {},
      last: () => console.log("last"),
    }, parent.promise);
    ${program}`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  using _removal = removeAtEnd(file);
  await Deno.writeTextFile(file, source);
  const args = ["run", "--no-config", "--no-check", "-A", file];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  return { code, output: new TextDecoder().decode(stdout) };
}

Deno.test("stop: a fault finishes what is under way, as a signal does, and ends with 1", async () => {
  assert.deepEqual(await run("stop();"), { code: 1, output: "begins\nfinished\nlast\n" });
  assert.deepEqual(await run('Deno.kill(Deno.pid, "SIGTERM");'), { code: 0, output: "begins\nfinished\nlast\n" });
});

Deno.test("stop: what it finishes is told how long it has, until requests are cut and until the process ends", async () => {
  const program = (clock: string) =>
    `${clock} left = ({ untilCutMs, untilEndMs }) => console.log(untilCutMs() + untilEndMs()); stop();`;
  const { output } = await run(program("performance.now = () => 7;"));
  assert.equal(output, "begins\n8900\nfinished\nlast\n");
  assert.equal((await run(program(LATER))).output, "begins\n-6100\nfinished\nlast\n");
});

Deno.test("stop: further faults while it stops do not cut it short", async () => {
  assert.deepEqual(await run(`${LATER} stop(); stop();`), { code: 1, output: "begins\nfinished\nlast\n" });
});

Deno.test("stop: with a delay a signal is announced first, and a second one or the parent's end skips the rest of it", async () => {
  const whole = { code: 0, output: "announced\nbegins\nfinished\nlast\n" };
  assert.deepEqual(await run('Deno.kill(Deno.pid, "SIGTERM");', 1), whole);
  const signalled = (then: string) =>
    run(`${LATER} announced = () => ${then}; Deno.kill(Deno.pid, "SIGTERM");`, HOUR_MS);
  assert.deepEqual(await signalled('Deno.kill(Deno.pid, "SIGTERM")'), whole);
  assert.deepEqual(await signalled("parent.resolve()"), whole);
});

Deno.test("stop: a fault and a parent that has ended are not announced", async () => {
  assert.deepEqual(await run("stop();", HOUR_MS), { code: 1, output: "begins\nfinished\nlast\n" });
  assert.deepEqual(await run("parent.resolve();", HOUR_MS), { code: 0, output: "begins\nfinished\nlast\n" });
});
