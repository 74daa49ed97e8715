/** Has calls on the data folder fail in the middle of a mixed load, and compares everything: `deno task bench faults [ROUNDS] [SEED]`. */
import { ioFaults } from "@/bench/faults/io_faults.ts";
import { damaged, type FaultRound, faultRounds } from "@/bench/faults/rounds.ts";
import { numberOf, toolArguments } from "@/tools/arguments.ts";
import { table } from "./table.ts";

const ROUNDS = 50;

const { words } = toolArguments("deno task bench faults [ROUNDS] [SEED]", { words: 2 });
const count = numberOf("ROUNDS", words[0], ROUNDS);
const seed = numberOf("SEED", words[1], Date.now() % 1_000_000, 0);
const faults = await ioFaults();
if (!faults) throw new Error("there is no C compiler to compile bench/faults/io_faults.c");
console.log(`${count} rounds, seed ${seed}`);
const rounds: FaultRound[] = [];
try {
  for await (const round of faultRounds(faults, count, seed)) {
    rounds.push(round);
    console.log(
      `round ${round.round}, ${round.disk}: ${round.failed} calls failed, ${
        round.refusals || "nothing refused"
      }, ${round.end}`,
    );
  }
} finally {
  faults.remove();
}
const columns = ["round", "disk", "failed", "reads", "versions", "unanswered", "happened", "ready", "end"] as const;
console.log(table([columns, ...rounds.map((round) => columns.map((column) => String(round[column])))]));
console.log("nothing lost");

const damages = new Map<string, number>();
for await (const { damage, finding } of damaged(count, seed)) {
  console.log(`${damage}: ${finding ?? "nothing changed"}`);
  const kind = `${damage.split(":", 1)[0]} ${finding === null ? "unchanged" : "found"}`;
  damages.set(kind, (damages.get(kind) ?? 0) + 1);
}
console.log([...damages].map(([kind, count]) => `${kind}: ${count}`).join(", "));
