import fc from "fast-check";
import assert from "node:assert/strict";
import { liveStates, newestPod, reasonOf } from "@/lib/campaigns/projection/volume_states.ts";
import { condition, job, pod, terminated } from "./cluster_fixtures.ts";

const crashed = { containerStatuses: [terminated("wrapper", { exitCode: 1, message: "boom" })] };
const failed = { phase: "Failed", ...crashed };
const EARLY = { name: "early", creationTimestamp: "2025-11-20T08:00:00Z" };
const LATE = { name: "late", creationTimestamp: "2025-11-20T09:00:00Z" };
const FAILED_JOB = { conditions: [condition("Failed", "2025-11-20T10:00:00Z")] };
const boom = { stage: null, permanent: null, error: "boom" };

Deno.test("volume states: done before failed before active before pending", () => {
  const { states } = liveStates(
    5,
    job({ spec: { completions: 5 }, status: { completedIndexes: "0-1", failedIndexes: "1-2" } }),
    [pod("0"), pod("2"), pod("3")],
  );
  assert.deepEqual(states, ["done", "done", "failed", "active", "pending"]);
});

Deno.test("volume states: pods without an index or beyond the completions are ignored", () => {
  const { states } = liveStates(3, job({ spec: { completions: 2 } }), [pod("x"), pod(null), pod("2"), pod("99")]);
  assert.deepEqual(states, ["pending", "pending", "pending"]);
});

Deno.test("volume states: there are as many as lines, whatever the completions", () => {
  assert.equal(liveStates(2, job({ spec: { completions: 9 } }), []).states.length, 2);
  assert.equal(liveStates(0, job(), [pod("0")]).states.length, 0);
});

Deno.test("volume states: the newest pod alone gives the reason, and a done volume has none", () => {
  const older = "2025-11-20T08:00:00Z";
  const newer = "2025-11-20T09:00:00Z";
  const campaign = job({ status: { completedIndexes: "0", failedIndexes: "1" } });
  const states = liveStates(4, campaign, [
    pod("0", crashed),
    pod("1", crashed, { creationTimestamp: newer }),
    pod("1", { reason: "Evicted" }, { creationTimestamp: older }),
    pod("2", crashed, { creationTimestamp: older }),
    pod("2", {}, { creationTimestamp: newer }),
    pod("3", crashed),
  ]);
  assert.equal(states.reason(0), null);
  assert.deepEqual(states.reason(1), boom);
  assert.equal(states.reason(2), null);
  assert.deepEqual(states.reason(3), boom);
});

Deno.test("volume states: an attempt begins with the newest pod", () => {
  const { attemptAt } = liveStates(3, job(), [
    pod("0", {}, { creationTimestamp: "2025-11-20T08:00:00Z" }),
    pod("0", {}, { creationTimestamp: "2025-11-20T09:00:00Z" }),
    pod("1", {}, { creationTimestamp: "" }),
  ]);
  assert.deepEqual([0, 1, 2].map(attemptAt), [Date.parse("2025-11-20T09:00:00Z"), null, null]);
});

Deno.test("volume states: a failed volume whose pod is gone has no reason", () => {
  assert.equal(liveStates(2, job({ status: { failedIndexes: "1" } }), []).reason(1), null);
});

Deno.test("volume states: on an ended Job the newest pod of a volume decides, in whatever order pods come", () => {
  const deletionTimestamp = "2025-11-20T10:00:00Z";
  const cases: [string, ReturnType<typeof pod>[]][] = [
    ["unfinished", []],
    ["active", [pod("0", { phase: "Pending" })]],
    ["active", [pod("0", { phase: "Running" })]],
    ["active", [pod("0", { phase: "Unknown" })]],
    ["unfinished", [pod("0", { phase: "Running" }, { deletionTimestamp })]],
    ["unfinished", [pod("0", { phase: undefined })]],
    ["failed", [pod("0", failed)]],
    ["failed", [pod("0", failed, { deletionTimestamp })]],
    ["done", [pod("0", { phase: "Succeeded" })]],
    ["done", [pod("0", failed, EARLY), pod("0", { phase: "Succeeded" }, LATE)]],
    ["failed", [pod("0", { phase: "Succeeded" }, EARLY), pod("0", failed, LATE)]],
    ["failed", [pod("0", { phase: "Running" }, EARLY), pod("0", failed, LATE)]],
    ["active", [pod("0", failed, EARLY), pod("0", { phase: "Running" }, LATE)]],
    ["unfinished", [pod("0", failed, EARLY), pod("0", { phase: "Running" }, { ...LATE, deletionTimestamp })]],
    ["failed", [pod("0", failed), pod("0", { phase: "Running" }, { creationTimestamp: "" })]],
  ];
  for (const type of ["Failed", "Complete"]) {
    const ended = job({ status: { conditions: [condition(type, "2025-11-20T10:00:00Z")] } });
    for (const [state, pods] of cases) {
      for (const order of [pods, pods.toReversed()]) {
        assert.equal(liveStates(1, ended, order).states[0], state, `${type} ${JSON.stringify(pods)}`);
      }
    }
  }
});

Deno.test("volume states: on a suspended Job only a volume whose newest pod still runs is active", () => {
  const suspended = job({ spec: { suspend: true } });
  const stateOf = (...pods: ReturnType<typeof pod>[]) => liveStates(1, suspended, pods).states[0];
  assert.equal(stateOf(pod("0", { phase: "Running" })), "active");
  assert.equal(stateOf(pod("0", { phase: "Running" }, { deletionTimestamp: "t" })), "pending");
  assert.equal(stateOf(pod("0", failed)), "pending");
  assert.equal(stateOf(pod("0", { phase: "Succeeded" })), "pending");
  assert.equal(stateOf(pod("0", { phase: "Running" }, EARLY), pod("0", failed, LATE)), "pending");
  assert.equal(stateOf(), "pending");
});

Deno.test("volume states: index sets outrank pods on an ended Job, and a Job that is being ended still runs", () => {
  const sets = { completedIndexes: "0", failedIndexes: "1" };
  const pods = [pod("0", failed), pod("1"), pod("2", failed)];
  assert.deepEqual(liveStates(4, job({ status: { ...sets, ...FAILED_JOB } }), pods).states, [
    "done",
    "failed",
    "failed",
    "unfinished",
  ]);
  const ending = { conditions: [condition("FailureTarget", "2025-11-20T10:00:00Z")] };
  const states = liveStates(4, job({ status: { ...sets, ...ending } }), pods);
  assert.deepEqual(states.states, ["done", "failed", "active", "pending"]);
  assert.equal(states.isFinal, true);
  assert.equal(liveStates(1, job(), []).isFinal, false);
  assert.equal(liveStates(1, job({ status: { conditions: [condition("Failed", "t", "False")] } }), []).isFinal, false);
});

Deno.test("volume states: a succeeded pod of a running Job makes no volume active", () => {
  const pods = [pod("0", { phase: "Succeeded" }), pod("1", { phase: "Succeeded" }, EARLY), pod("1", failed, LATE)];
  assert.deepEqual(liveStates(2, job(), pods).states, ["pending", "active"]);
});

Deno.test("volume states: an active volume says what its newest pod waits for", () => {
  const waiting = (reason: string, name = "wrapper") => ({
    phase: "Pending",
    containerStatuses: [{ name, state: { waiting: { reason, message: "m" } } }],
  });
  const campaign = job({ status: { failedIndexes: "2" } });
  const states = liveStates(6, campaign, [
    pod("0", waiting("ImagePullBackOff")),
    pod("1", waiting("ImagePullBackOff"), EARLY),
    pod("1", { phase: "Running" }, LATE),
    pod("2", waiting("ErrImagePull")),
    pod("3", waiting("CrashLoopBackOff", "side")),
    pod("4", waiting("ErrImagePull"), { deletionTimestamp: "t" }),
    pod("5", { ...waiting("ErrImagePull"), phase: "Failed" }),
  ]);
  assert.deepEqual(states.containerWaiting(0), { reason: "ImagePullBackOff", message: "m" });
  for (const index of [1, 2, 3, 4, 5]) assert.equal(states.containerWaiting(index), null, `${index}`);
});

function reason(status: object) {
  return reasonOf(pod("1", status), "wrapper");
}

function plain(error: string) {
  return { stage: null, permanent: null, error };
}

const sigterm = JSON.stringify({ stage: "stream", permanent: false, error: "SIGTERM" });
const gate = terminated("warmup-wait", { exitCode: 13, message: "no warm-up marker" });

Deno.test("reason: the wrapper's report comes first, wrong types in it are null", () => {
  const cases: [string, unknown][] = [
    ['{"stage":"stream","permanent":true,"error":"boom"}', { stage: "stream", permanent: true, error: "boom" }],
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
  assert.equal(reason({ ...ended(sigterm), reason: "DeadlineExceeded" })?.error, "DeadlineExceeded");
  assert.equal(reason({ ...ended("SIGTERM"), reason: "DeadlineExceeded" })?.error, "DeadlineExceeded");
  assert.equal(reason({ ...ended(sigterm), reason: "DeadlineExceeded" })?.stage, "stream");
  assert.equal(reason(ended(sigterm))?.error, "SIGTERM");
  assert.equal(reason({ ...ended("SIGTERM "), reason: "DeadlineExceeded" })?.error, "SIGTERM ");
  assert.equal(reason({ ...ended("other"), reason: "DeadlineExceeded" })?.error, "other");
});

Deno.test("reason: without the wrapper's, the message of a gate that failed", () => {
  const passed = terminated("prepare", { exitCode: 0, message: "all fine" });
  const mute = terminated("mute", { exitCode: 2 });
  assert.deepEqual(reason({ initContainerStatuses: [passed, mute, gate] }), plain("no warm-up marker"));
  assert.deepEqual(reason({ initContainerStatuses: [gate], reason: "Evicted" }), plain("no warm-up marker"));
  assert.equal(reason({ initContainerStatuses: [passed] }), null);
  const restarted = { name: "wrapper", lastState: { terminated: { exitCode: 1, message: "older" } } };
  assert.deepEqual(reason({ containerStatuses: [restarted], initContainerStatuses: [gate] }), plain("older"));
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
    [{ initContainerStatuses: [terminated("i", { exitCode: 2 })] }, "Error (exit code 2)"],
    [{}, null],
    [{ containerStatuses: null, initContainerStatuses: null }, null],
  ];
  for (const [status, error] of cases) {
    assert.deepEqual(reason(status), error === null ? null : plain(error), JSON.stringify(status));
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
    let json = JSON.stringify(report, members);
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
    const begins = JSON.stringify(report, members.slice(0, members.indexOf("error")));
    if (isAscii || begins.length < 3 || message.length <= begins.length + 10) return;
    // No more commas than that are tried.
    if (message.slice(begins.length).split(",").length > 7) return;
    if (members.indexOf("stage") < members.indexOf("error")) assert.equal(found.stage, report.stage.toWellFormed());
  }));
});

Deno.test("newest pod: the greatest creation time, of equals the first", () => {
  const at = (name: string, creationTimestamp: string) => pod("1", {}, { name, creationTimestamp });
  const pods = [at("a", "2025-01-01T00:00:00Z"), at("b", "2025-01-02T00:00:00Z"), at("c", "2025-01-02T00:00:00Z")];
  assert.equal(newestPod(pods)?.name, "b");
  assert.equal(newestPod([]), null);
});
