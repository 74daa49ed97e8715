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
    ["x".repeat(4095), plain("x".repeat(4095))],
    ["x".repeat(4096), plain("x".repeat(300))],
    ["å".repeat(2048), plain("å".repeat(300))],
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

Deno.test("reason: a container that runs again has not failed, unless it does the work", () => {
  const again = (name: string) => ({
    name,
    state: { running: {} },
    lastState: { terminated: { exitCode: 2, reason: "Error", message: "flushed" } },
  });
  const running = { name: "wrapper", state: { running: {} } };
  assert.equal(reason({ containerStatuses: [running], initContainerStatuses: [again("sidecar")] }), null);
  assert.equal(reason({ containerStatuses: [running, again("side")] }), null);
  assert.equal(reason({ containerStatuses: [running], ephemeralContainerStatuses: [gate] }), null);
  assert.deepEqual(reason({ containerStatuses: [again("wrapper")] }), plain("flushed"));
});

Deno.test("reason: a report that was cut keeps its whole members and the beginning of its error", () => {
  const of = (message: string) => reason({ containerStatuses: [terminated("wrapper", { exitCode: 1, message })] });
  const load = { stage: "load", permanent: true };
  const cases: [string, unknown][] = [
    [`{"stage":"load","permanent":true,"error":"${"x".repeat(4055)}`, { ...load, error: "x".repeat(300) }],
    ['{"stage":"load","permanent":true,"error":"', { ...load, error: "" }],
    ['{"stage":"load","permanent":true,"error":"a \\"b\\" \\u00e', { ...load, error: 'a "b" ' }],
    ['{"stage":"load","permanent":true,"error":"a\\\\', { ...load, error: "a\\" }],
    ['{"stage":"load","permanent":true,"error":"a\\\\\\', { ...load, error: "a\\" }],
    ['{"stage":"load","permanent":true,"error":"a\\ud83d', { ...load, error: "a" }],
    ['{"stage":"load","permanent":true,"error":"a\ufffd', { ...load, error: "a" }],
    ['{"error":"a, b","stage":"lo', { stage: null, permanent: null, error: "a, b" }],
    ['{"error":"a, b","stage":"load","permanent":tr', { stage: "load", permanent: null, error: "a, b" }],
    ['{"error":"a","stage":"load","more":{"b":[1,2', { stage: "load", permanent: null, error: "a" }],
    ['{"stage":"load","permanent":true,"err', { ...load, error: '{"stage":"load","permanent":true,"err' }],
    ['{"sta', plain('{"sta')],
    ["{'stage': 'load'", plain("{'stage': 'load'")],
    ['["error', plain('["error')],
  ];
  for (const [message, expected] of cases) assert.deepEqual(of(message), expected, message.slice(0, 80));
});

Deno.test("reason: any cut of any report leaves nothing that was not reported", () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('"', "\\", "\n", ",", "å", "\u{1f600}", "{", "}"), fc.string()),
  });
  const members = fc.shuffledSubarray(["stage", "permanent", "error", "more"], { minLength: 4 });
  const report = fc.record({ stage: text, permanent: fc.boolean(), error: text, more: fc.array(text) });
  fc.assert(fc.property(report, members, fc.nat(), fc.boolean(), (report, members, at, isAscii) => {
    let json = JSON.stringify(report, members.concat("more"));
    if (isAscii) json = json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const bytes = new TextEncoder().encode(json);
    const message = new TextDecoder().decode(bytes.subarray(0, at % bytes.length));
    const found = reason({ containerStatuses: [terminated("wrapper", { exitCode: 1, message })] });
    assert.ok(found);
    assert.ok(found.error.length <= Math.max(600, message.length));
    assert.ok(found.stage === null || found.stage === report.stage.toWellFormed(), `${found.stage}`);
    assert.ok(found.permanent === null || found.permanent === report.permanent);
    const isBeginning = report.error.toWellFormed().startsWith(found.error);
    assert.ok(isBeginning || message.startsWith(found.error), found.error);
    // As soon as the error begins, what stood before it is known.
    const begins = JSON.stringify(report, members.slice(0, members.indexOf("error")).concat("more"));
    if (isAscii || begins.length < 3 || message.length <= begins.length + 10) return;
    if (members.indexOf("stage") < members.indexOf("error")) assert.equal(found.stage, report.stage.toWellFormed());
  }));
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
