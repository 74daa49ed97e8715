/** Sums what the stages of the tests left: `deno run --allow-read tools/test_reports.ts FOLDER FAILED_BEFORE`. */
import { textIfExists } from "@/lib/std/optional_file.ts";

/** The stages, each a task `test:NAME`, in the order in which they run. */
export const STAGES: readonly string[] = ["units", "end_to_end"];

/** Numbers of tests; ignored ones are in neither. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/** What a stage left. */
export interface StageResult {
  /** Its JUnit report; null where it wrote none. */
  readonly report: string | null;
  /** Its exit status; null where it did not end. */
  readonly code: number | null;
}

/** Where a stage leaves its report and its exit status. */
export function stageFiles(folder: string, stage: string): { readonly report: string; readonly code: string } {
  return { report: `${folder}/${stage}.xml`, code: `${folder}/${stage}.status` };
}

/**
 * The tests of all stages.
 *
 * @param folder where the stages left their files
 */
export function countStages(folder: string, stages: readonly string[]): TestCounts {
  return stages.map((stage) => {
    const files = stageFiles(folder, stage);
    const code = textIfExists(files.code);
    return countStage({ report: textIfExists(files.report), code: code === null ? null : Number(code) });
  }).reduce(add, { passed: 0, failed: 0 });
}

/** The tests of a stage. One that failed without a failed test counts as one: a type error, a crash, nothing to run. */
export function countStage({ report, code }: StageResult): TestCounts {
  const counts = countTests(report ?? "");
  const isWhole = code === 0 && counts.passed > 0;
  return isWhole || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

/** The tests of a JUnit report as `deno test` writes it: texts in it are escaped. */
function countTests(report: string): TestCounts {
  let passed = 0;
  let failed = 0;
  for (const [, content = ""] of report.matchAll(/<testcase\b[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)) {
    if (/<(?:failure|error)\b/.test(content)) failed++;
    else if (!/<skipped\b/.test(content)) passed++;
  }
  return { passed, failed };
}

function add(one: TestCounts, other: TestCounts): TestCounts {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed };
}

if (import.meta.main) {
  const [folder, failedBefore] = Deno.args;
  const { passed, failed } = add(countStages(folder, STAGES), { passed: 0, failed: Number(failedBefore) });
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) Deno.exitCode = 1;
}
