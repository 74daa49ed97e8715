import assert from "node:assert/strict";
import { ConfigError } from "@/lib/std/start_errors.ts";
import { readTraceParent, requireOwnSpans, traceParentOf } from "@/lib/operations/tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

Deno.test("traceparent: one of this version, and of a later one that appends to it", () => {
  const sampled = { traceId: TRACE, spanId: SPAN, traceFlags: 1 };
  assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-01`), sampled);
  assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-02`), { ...sampled, traceFlags: 0 });
  assert.deepEqual(readTraceParent(`cc-${TRACE}-${SPAN}-03-what-comes`), sampled);
  assert.equal(traceParentOf(sampled), `00-${TRACE}-${SPAN}-01`);
  assert.equal(traceParentOf({ ...sampled, traceFlags: 0 }), `00-${TRACE}-${SPAN}-00`);
});

Deno.test("traceparent: what is malformed, of no trace or too long counts as none", () => {
  const invalid = [
    null,
    "",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${"x".repeat(100)}`,
  ];
  for (const text of invalid) assert.equal(readTraceParent(text), null, String(text));
});

Deno.test("own spans: a start is refused exactly where the runtime would create spans by itself", () => {
  const cases: readonly [Record<string, string>, boolean][] = [
    [{}, true],
    [{ OTEL_DENO: "false" }, true],
    [{ OTEL_DENO: "true", OTEL_DENO_TRACING: "false" }, true],
    [{ OTEL_DENO: "TRUE", OTEL_DENO_TRACING: "False" }, true],
    [{ OTEL_DENO: "true" }, false],
    [{ OTEL_DENO: "1" }, false],
    [{ OTEL_DENO: "true", OTEL_DENO_TRACING: "" }, false],
    [{ OTEL_DENO: "true", OTEL_DENO_TRACING: "off" }, false],
    [{ OTEL_DENO_TRACING: "true" }, false],
  ];
  for (const [env, isAccepted] of cases) {
    if (isAccepted) requireOwnSpans(env);
    else assert.throws(() => requireOwnSpans(env), ConfigError, JSON.stringify(env));
  }
});
