/**
 * Starts the application on the oldest supported version of Deno and runs one file of tests there:
 * `deno run --allow-run tools/oldest_deno.ts`. With `whole` it runs the whole suite.
 */
import { OLDEST_DENO } from "@/lib/process/deno.ts";
import { refuseArguments, toolArguments } from "./arguments.ts";

const usage = "deno run --allow-run tools/oldest_deno.ts [whole]";
const { words } = toolArguments(usage, { words: 1 });
if (words.some((word) => word !== "whole")) refuseArguments(`Unexpected argument '${words[0]}'`, usage);
if (words.length === 0 && Deno.version.deno === OLDEST_DENO) {
  console.log(`Deno ${OLDEST_DENO} is the oldest supported version: the suite itself shows that it works`);
  Deno.exit();
}
const smoke = ["test", "--config", "deno.test.json", "-A", "--no-check", "tests/long/smoke_test.ts"];
const { code } = await new Deno.Command("npx", {
  args: ["-y", `deno@${OLDEST_DENO}`, ...words.length > 0 ? ["task", "test"] : smoke],
}).spawn().status;
Deno.exit(code);
