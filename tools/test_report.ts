/** Numbers of tests; ignored ones are in neither. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
}

/**
 * The tests of a run. One that failed without a failed test counts as one: a module that cannot be loaded, a crash, nothing
 * to run.
 *
 * @param report JUnit as `deno test` writes it, with texts escaped; null where there is none
 * @param code exit status of the run
 */
export function countTests(report: string | null, code: number): TestCounts {
  let passed = 0;
  let failed = 0;
  for (const [, content = ""] of (report ?? "").matchAll(/<testcase\b[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)) {
    if (/<(?:failure|error)\b/.test(content)) failed++;
    else if (!/<skipped\b/.test(content)) passed++;
  }
  const isWhole = code === 0 && passed > 0;
  return isWhole || failed > 0 ? { passed, failed } : { passed, failed: 1 };
}
