/** Sums what the stages of the tests left: `deno run --allow-read tools/test_reports.ts FOLDER FAILED_BEFORE`. */
import { textIfExists } from "@/lib/std/files.ts";
import { unescapeXml } from "@/lib/std/xml_scanner.ts";
import { numberOf, refuseArguments, toolArguments } from "./arguments.ts";

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
  return stages.map((stage) => countStage(readStage(folder, stage))).reduce(add, { passed: 0, failed: 0 });
}

/**
 * What failed in all stages, each with its message, so that the end of a long output shows it.
 *
 * @param folder where the stages left their files
 */
export function failuresOfStages(folder: string, stages: readonly string[]): string[] {
  return stages.flatMap((stage) => failuresOf(readStage(folder, stage)).map((failure) => `[${stage}] ${failure}`));
}

function readStage(folder: string, stage: string): StageResult {
  const files = stageFiles(folder, stage);
  const code = textIfExists(files.code);
  return { report: textIfExists(files.report), code: code === null ? null : Number(code) };
}

/** The tests of a stage. One that failed without a failed test counts as one: a type error, a crash, nothing to run. */
export function countStage({ report, code }: StageResult): TestCounts {
  const counts = countTests(report ?? "");
  const isWhole = code === 0 && counts.passed > 0;
  return isWhole || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

function failuresOf({ report, code }: StageResult): string[] {
  const failures: string[] = [];
  for (const { name, content } of testCases(report ?? "")) {
    const failure = FAILURE.exec(content);
    if (failure === null) continue;
    const [, attributes, text] = failure;
    failures.push(`${name}: ${text ? textOf(text) : attributeOf("message", attributes)}`);
  }
  if (code === 0 && countStage({ report, code }).failed === 0) return failures;
  return [...failures, `the exit status is ${code ?? "missing"}: its output says what failed outside of tests`];
}

/** The tests of a JUnit report as `deno test` writes it: texts in it are escaped. */
function countTests(report: string): TestCounts {
  let passed = 0;
  let failed = 0;
  for (const { content } of testCases(report)) {
    if (FAILURE.test(content)) failed++;
    else if (!/<skipped\b/.test(content)) passed++;
  }
  return { passed, failed };
}

const FAILURE = /<(?:failure|error)\b([^>]*?)(?:\/>|>(.*?)<\/(?:failure|error)>)/s;

function* testCases(report: string): Generator<{ readonly name: string; readonly content: string }> {
  for (const [, attributes, content = ""] of report.matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)) {
    yield { name: attributeOf("name", attributes), content };
  }
}

function attributeOf(name: string, attributes: string): string {
  return textOf(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? `(no ${name})`);
}

function textOf(escaped: string): string {
  return unescapeXml(escaped) ?? escaped;
}

function add(one: TestCounts, other: TestCounts): TestCounts {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed };
}

if (import.meta.main) {
  const usage = "tools/test_reports.ts FOLDER FAILED_BEFORE";
  const { words: [folder, failedBefore] } = toolArguments(usage, { words: 2 });
  if (failedBefore === undefined) refuseArguments("FOLDER and FAILED_BEFORE are required", usage);
  const before = numberOf("FAILED_BEFORE", failedBefore, 0, 0);
  const { passed, failed } = add(countStages(folder, STAGES), { passed: 0, failed: before });
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) Deno.exitCode = 1;
}
