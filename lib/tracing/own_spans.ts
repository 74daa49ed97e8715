import { ConfigError } from "@/lib/std/config_error.ts";

/** The variables of the runtime that say whether it creates spans by itself. */
export const SPAN_VARIABLES = ["OTEL_DENO", "OTEL_DENO_TRACING"] as const;

/**
 * Ends a start whose runtime would create spans by itself: those have the whole address of a request, with keys, tickets
 * and signatures. The spans of lib/tracing have none, and are sent without them too.
 *
 * @throws {ConfigError}
 */
export function requireOwnSpans(env: Readonly<Record<string, string | undefined>>): void {
  const values = SPAN_VARIABLES.map((name) => env[name]?.toLowerCase());
  if (values[1] === "false" || !values.some((value) => value === "true" || value === "1")) return;
  throw new ConfigError(
    "OTEL_DENO_TRACING",
    "must be false where OTEL_DENO is true: the runtime's own spans have whole addresses, with keys and signatures",
  );
}
