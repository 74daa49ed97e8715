import assert from "node:assert/strict";
import { endingOf, finishedAtOf, phaseOf } from "@/lib/campaigns/projection/phase.ts";
import { condition, job } from "./cluster_fixtures.ts";

const complete = condition("Complete", "2025-11-20T10:00:00Z");
const failed = condition("Failed", "2025-11-20T11:00:00Z");

Deno.test("phase: it follows conditions, suspension and completed indexes in that order", () => {
  const cases: [string, object, object][] = [
    ["Running", {}, {}],
    ["Queued", { suspend: true }, {}],
    ["Paused", { suspend: true }, { completedIndexes: "0" }],
    ["Succeeded", {}, { conditions: [complete] }],
    ["Succeeded", {}, {
      conditions: [failed, complete],
      completedIndexes: "0",
    }],
    ["Failed", {}, { conditions: [failed] }],
    ["PartiallyFailed", {}, { conditions: [failed], completedIndexes: "0" }],
    ["Failed", { suspend: true }, { conditions: [failed] }],
    ["Running", {}, {
      conditions: [{ ...complete, status: "False" }, {
        ...failed,
        status: "Unknown",
      }],
    }],
  ];
  for (const [phase, spec, status] of cases) {
    assert.equal(
      phaseOf(job({ spec, status })),
      phase,
      JSON.stringify({ spec, status }),
    );
  }
});

Deno.test("finishedAt: the completion time, else the first ending among the conditions", () => {
  assert.equal(finishedAtOf(job()), null);
  assert.equal(
    finishedAtOf(
      job({ status: { conditions: [complete], completionTime: "c" } }),
    ),
    "c",
  );
  assert.equal(
    finishedAtOf(job({ status: { conditions: [failed, complete] } })),
    failed.lastTransitionTime,
  );
  assert.equal(
    finishedAtOf(
      job({
        status: { conditions: [{ ...failed, status: "False" }, complete] },
      }),
    ),
    complete.lastTransitionTime,
  );
});

Deno.test("ending: why a Job ended or is being ended early, of the conditions that hold", () => {
  const because = (type: string, reason: string, message = "", status = "True") => ({
    ...condition(type, "2025-11-20T10:00:00Z", status),
    reason,
    message,
  });
  const cases: [object[], object | null][] = [
    [[], null],
    [[because("Failed", "DeadlineExceeded", "m")], { reason: "DeadlineExceeded", message: "m" }],
    [[because("FailureTarget", "A"), because("Failed", "B")], { reason: "B", message: null }],
    [[because("FailureTarget", "PodFailurePolicy")], { reason: "PodFailurePolicy", message: null }],
    [[because("Failed", "A", "", "False")], null],
    [[because("Failed", "")], { reason: "Failed", message: null }],
    [[because("Complete", "SuccessPolicy")], { reason: "SuccessPolicy", message: null }],
    [[because("SuccessCriteriaMet", "SuccessPolicy")], { reason: "SuccessPolicy", message: null }],
    [[because("SuccessCriteriaMet", "CompletionsReached"), because("Complete", "CompletionsReached")], null],
    [[because("Failed", "A"), because("Complete", "")], null],
    [[because("Failed", "R".repeat(5000), "m".repeat(5000))], { reason: "R".repeat(100), message: "m".repeat(300) }],
  ];
  for (const [conditions, ending] of cases) {
    assert.deepEqual(endingOf(job({ status: { conditions } })), ending, JSON.stringify(conditions).slice(0, 200));
  }
});
