import assert from "node:assert/strict";
import { requireOwnSpans } from "@/lib/tracing/own_spans.ts";
import { ConfigError } from "@/lib/std/config_error.ts";

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
