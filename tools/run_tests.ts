/**
 * `deno task test`: runs every stage of the tests and ends with the worst of their statuses.
 * Failed tests are printed again after the output of all stages; the last line is "N passed, N failed". JUnit reports are
 * left in the folder that `TEST_REPORTS` names, where it is set.
 */
import { toolArguments } from "./arguments.ts";
import { runStages } from "./run_stages.ts";
import { countStages, failuresOfStages, STAGES } from "./test_reports.ts";

toolArguments("deno task test");
const named = Deno.env.get("TEST_REPORTS");
const folder = named || await Deno.makeTempDir({ prefix: "stackroom-reports-" });
try {
  const code = await runStages(STAGES, {
    folder,
    args: (stage, report) => ["task", `test:${stage}`, `--junit-path=${report}`],
    print: (line) => console.log(line),
  });
  for (const failure of failuresOfStages(folder, STAGES)) console.log(failure);
  const { passed, failed } = countStages(folder, STAGES);
  console.log(`${passed} passed, ${failed} failed`);
  Deno.exitCode = failed > 0 || passed === 0 ? Math.max(code, 1) : code;
} finally {
  if (!named) await Deno.remove(folder, { recursive: true });
}
