import assert from "node:assert/strict";
import { readTraceParent, traceParentOf } from "@/lib/tracing/trace_parent.ts";

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
