import assert from "node:assert/strict";
import { MAX_REPORTED_JOBS, unlistedJobs } from "@/lib/campaigns/source/unlisted_jobs.ts";
import type { LogEntry } from "@/lib/http/access_log.ts";
import { conventions, job } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

Deno.test("unlisted Jobs: each is logged once, with the label that is missing, up to a bound", () => {
  const lines: LogEntry[] = [];
  const report = unlistedJobs({ write: (entry) => lines.push(entry), flush() {} }, conventions);
  const first = job();
  report(first);
  report(job());
  assert.deepEqual(lines, [{
    level: "warn",
    unlisted_job: "batch-default/lund",
    error: "the label campaigns.stackroom.dev/managed-by=converter is missing",
  }]);
  report({ ...first, uid: "uid-2" });
  assert.equal(lines.length, 2, "another Job of the same name");
  for (let i = 0; i < MAX_REPORTED_JOBS; i++) report({ ...first, name: `job-${i}` });
  assert.equal(lines.length, MAX_REPORTED_JOBS);
});
