import assert from "node:assert/strict";
import fc from "fast-check";
import { newestPod, reasonOf } from "@/lib/campaigns/projection/reasons.ts";
import { pod, terminated } from "./cluster_fixtures.ts";

function reason(status: object) {
  return reasonOf(pod("1", status), "wrapper");
}

function plain(error: string) {
  return { stage: null, permanent: null, error };
}

const sigterm = JSON.stringify({
  stage: "stream",
  permanent: false,
  error: "SIGTERM",
});
const gate = terminated("warmup-wait", {
  exitCode: 13,
  message: "no warm-up marker",
});

Deno.test("reason: the wrapper's report comes first, wrong types in it are null", () => {
  const cases: [string, unknown][] = [
    [
      '{"stage":"stream","permanent":true,"error":"boom"}',
      { stage: "stream", permanent: true, error: "boom" },
    ],
    ['{"stage":5,"permanent":"yes","error":"boom"}', plain("boom")],
    ['{"error":""}', plain("")],
    ['{"error":5}', plain('{"error":5}')],
    ['["error"]', plain('["error"]')],
    ["null", plain("null")],
    ["not JSON", plain("not JSON")],
    ["", plain("")],
    ['{"__proto__":{"error":"x"}}', plain('{"__proto__":{"error":"x"}}')],
    ["\ud800", plain("\ud800")],
    ["x".repeat(65_536), plain("x".repeat(65_536))],
  ];
  for (const [message, expected] of cases) {
    const status = {
      reason: "Evicted",
      containerStatuses: [terminated("wrapper", { exitCode: 1, message })],
      initContainerStatuses: [gate],
    };
    assert.deepEqual(reason(status), expected, message.slice(0, 60));
  }
});

Deno.test("reason: at the deadline SIGTERM is renamed, every other message stays", () => {
  const ended = (message: string) => ({
    containerStatuses: [terminated("wrapper", { exitCode: 143, message })],
  });
  assert.equal(
    reason({ ...ended(sigterm), reason: "DeadlineExceeded" })?.error,
    "DeadlineExceeded",
  );
  assert.equal(
    reason({ ...ended("SIGTERM"), reason: "DeadlineExceeded" })?.error,
    "DeadlineExceeded",
  );
  assert.equal(
    reason({ ...ended(sigterm), reason: "DeadlineExceeded" })?.stage,
    "stream",
  );
  assert.equal(reason(ended(sigterm))?.error, "SIGTERM");
  assert.equal(
    reason({ ...ended("SIGTERM "), reason: "DeadlineExceeded" })?.error,
    "SIGTERM ",
  );
  assert.equal(
    reason({ ...ended("other"), reason: "DeadlineExceeded" })?.error,
    "other",
  );
});

Deno.test("reason: without the wrapper's, the message of a gate that failed", () => {
  const passed = terminated("prepare", { exitCode: 0, message: "all fine" });
  const mute = terminated("mute", { exitCode: 2 });
  assert.deepEqual(
    reason({ initContainerStatuses: [passed, mute, gate] }),
    plain("no warm-up marker"),
  );
  assert.deepEqual(
    reason({ initContainerStatuses: [gate], reason: "Evicted" }),
    plain("no warm-up marker"),
  );
  assert.equal(reason({ initContainerStatuses: [passed] }), null);
  const restarted = {
    name: "wrapper",
    lastState: { terminated: { exitCode: 1, message: "older" } },
  };
  assert.deepEqual(
    reason({ containerStatuses: [restarted], initContainerStatuses: [gate] }),
    plain("older"),
  );
});

Deno.test("reason: without a message the pod's reason, then the first exit code that is not zero", () => {
  const killed = terminated("wrapper", { exitCode: 137, reason: "OOMKilled" });
  const side = terminated("side", { exitCode: 3, message: "not used" });
  const cases: [object, string | null][] = [
    [{ reason: "Evicted", containerStatuses: [killed] }, "Evicted"],
    [{ reason: "DeadlineExceeded" }, "DeadlineExceeded"],
    [{ containerStatuses: [killed] }, "OOMKilled (exit code 137)"],
    [{ containerStatuses: [side, killed] }, "Error (exit code 3)"],
    [{ containerStatuses: [terminated("wrapper", { exitCode: 0 })] }, null],
    [{
      initContainerStatuses: [terminated("i", { exitCode: 2 })],
      containerStatuses: [killed],
    }, "OOMKilled (exit code 137)"],
    [
      { initContainerStatuses: [terminated("i", { exitCode: 2 })] },
      "Error (exit code 2)",
    ],
    [{}, null],
    [{ containerStatuses: null, initContainerStatuses: null }, null],
  ];
  for (const [status, error] of cases) {
    assert.deepEqual(
      reason(status),
      error === null ? null : plain(error),
      JSON.stringify(status),
    );
  }
});

Deno.test("reason: an end without a message hides the end before it", () => {
  const again = {
    name: "wrapper",
    state: { terminated: { exitCode: 1 } },
    lastState: { terminated: { exitCode: 1, message: "older" } },
  };
  assert.deepEqual(
    reason({ containerStatuses: [again] }),
    plain("Error (exit code 1)"),
  );
});

Deno.test("newest pod: the greatest creation time, of equals the first", () => {
  const at = (name: string, creationTimestamp: string) => pod("1", {}, { name, creationTimestamp });
  const pods = [
    at("a", "2025-01-01T00:00:00Z"),
    at("b", "2025-01-02T00:00:00Z"),
    at("c", "2025-01-02T00:00:00Z"),
  ];
  assert.equal(newestPod(pods)?.name, "b");
  assert.equal(newestPod([]), null);
});

Deno.test("reason: any message is a reason whose members have the right types", () => {
  const message = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.record({ error: fc.string() }).map((r) => JSON.stringify(r)),
  );
  fc.assert(fc.property(message, (text) => {
    const found = reason({
      containerStatuses: [
        terminated("wrapper", { exitCode: 1, message: text }),
      ],
    });
    assert.equal(typeof found?.error, "string");
  }));
});
