/** Kills the application 50 times in the middle of a mixed load and compares everything: `deno task bench crash [KILLS] [SEED]`. */
import { crashRounds, type Round } from "@/bench/crash/rounds.ts";
import { numberOf, toolArguments } from "@/tools/arguments.ts";
import { table } from "./table.ts";

const KILLS = 50;

const { words } = toolArguments("deno task bench crash [KILLS] [SEED]", { words: 2 });
const kills = numberOf("KILLS", words[0], KILLS);
const seed = numberOf("SEED", words[1], Date.now() % 1_000_000, 0);
console.log(`${kills} kills, seed ${seed}`);
const rounds: Round[] = [];
for await (const round of crashRounds(kills, seed)) {
  rounds.push(round);
  console.log(`kill ${round.kill}: ${round.versions} versions as they were acknowledged`);
}
const columns = ["kill", "events", "versions", "uploads", "files", "unanswered", "happened"] as const;
console.log(table([columns, ...rounds.map((round) => columns.map((column) => String(round[column])))]));
console.log("nothing lost");
