import assert from "node:assert/strict";
import { runBounded } from "@/bench/bounded_run.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const PROGRAM = `
const [name] = Deno.args;
if (name === "endless") await new Promise((resolve) => setTimeout(resolve, 3_600_000));
if (name === "broken") Deno.exit(3);
const verdict = { row: "a row", figures: "1 ms", toReach: "≤ 2 ms", reached: name === "slow" ? "NO" : "yes" };
Deno.writeTextFileSync(Deno.env.get("BENCH_VERDICTS"), JSON.stringify([verdict]));
`;

async function run(seconds: number, ...measures: string[]) {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(path, PROGRAM);
  const printed: string[] = [];
  using _removal = removeAtEnd(path);
  const isReached = await runBounded(measures, {
    seconds,
    program: ["run", "--no-check", "-A", path],
    print: (text) => printed.push(text),
  });
  return { isReached, text: printed.join("\n") };
}

Deno.test("bench: all verdicts come in one table at the end, with the measure that each is of", async () => {
  const { isReached, text } = await run(120, "quick", "also");
  assert.ok(isReached);
  assert.match(text, /^ *quick +a row +1 ms +≤ 2 ms +yes$/m);
  assert.match(text, /^ *also +a row +1 ms +≤ 2 ms +yes$/m);
  assert.match(text, /2 reached, 0 missed$/);
});

Deno.test("bench: a measure that is not over in time, fails or misses its figure is one that missed", async () => {
  const { isReached, text } = await run(9, "endless", "broken", "slow");
  assert.equal(isReached, false);
  assert.match(text, /^ *endless +the whole measure .*≤ 3 s +NO: not over in time$/m);
  assert.match(text, /^ *broken +the whole measure .*NO: status 3$/m);
  assert.match(text, /0 reached, 3 missed$/);
});

Deno.test("bench: a run without any verdict is not one that reached all", async () => {
  const { isReached, text } = await run(9);
  assert.equal(isReached, false);
  assert.match(text, /0 reached, 0 missed$/);
});

Deno.test("bench: what measures leave of their time is for those after them", async () => {
  const { text } = await run(120, "quick", "quick", "quick", "broken");
  const [, seconds] = /^ *broken +the whole measure .*≤ (\d+) s +NO/m.exec(text) ?? [];
  // A fourth of it would be 30 s.
  assert.ok(Number(seconds) > 60, text);
});
