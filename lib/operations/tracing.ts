import type { Middleware } from "@/lib/http/request_context.ts";
import type { TraceUpstream, UpstreamResult } from "@/lib/http/upstream.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";

/** The variables of the runtime that say whether it creates spans by itself. */
export const SPAN_VARIABLES = ["OTEL_DENO", "OTEL_DENO_TRACING"] as const;

/**
 * Ends a start whose runtime would create spans by itself: those have the whole address of a request, with keys, tickets
 * and signatures. The spans of this file have none, and are sent without them too.
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

/** The part of the runtime's OpenTelemetry that is used; its types are those of a package that is not. */
interface Span {
  spanContext(): TraceParent;
  setAttribute(name: string, value: string | number): void;
  setStatus(status: { readonly code: number }): void;
  updateName(name: string): void;
  end(): void;
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

interface Telemetry {
  readonly tracerProvider: { getTracer(name: string): Tracer };
  readonly contextManager: { active(): Context; with<T>(context: Context, run: () => T): T };
}

interface Tracer {
  startSpan(name: string, options: { readonly kind: number }, context: Context): Span;
}

/** Where OpenTelemetry stores the span of a context. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");
const SERVER = 1;
const CLIENT = 2;
const ERROR = 2;
/** Methods that clients may send are as many as they like; others are `_OTHER` by OpenTelemetry's conventions. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

/**
 * Traces requests and the upstream calls that they lead to by the runtime's OpenTelemetry; null where `OTEL_DENO` does not
 * turn it on. Spans have names of this program alone: those that the runtime creates by itself have the whole address, so the launcher turns them off.
 */
export function tracing(): { middleware: Middleware; upstream(service: string): TraceUpstream } | null {
  const telemetry = Deno.telemetry as unknown as Telemetry;
  const tracer = openTracer(telemetry);
  if (tracer === null) return null;
  const { contextManager } = telemetry;
  return {
    middleware: function traceRequest(c, next) {
      const context = c.get("context");
      const parent = readTraceParent(context.header("traceparent"));
      const active = contextManager.active();
      const under = parent === null ? active : active.setValue(SPAN, { spanContext: () => parent });
      const method = METHODS.has(context.method) ? context.method : "_OTHER";
      const span = tracer.startSpan(method, { kind: SERVER }, under);
      return contextManager.with(under.setValue(SPAN, span), async () => {
        try {
          await next();
        } finally {
          const { operation, route, role } = context;
          const { status } = c.res;
          span.updateName(operation === undefined ? method : route === undefined ? operation : `${operation} ${route}`);
          span.setAttribute("http.request.method", method);
          span.setAttribute("http.response.status_code", status);
          if (route !== undefined) span.setAttribute("http.route", route);
          if (operation !== undefined) span.setAttribute("stackroom.operation", operation);
          if (role !== undefined) span.setAttribute("stackroom.role", role);
          if (status >= 500) fail(span, String(status));
          span.end();
        }
      });
    },
    upstream: (service) => (operation) => {
      const active = contextManager.active();
      // A call without a request, such as one of a watch, would be a trace of a single span.
      if (active.getValue(SPAN) === undefined) return null;
      const span = tracer.startSpan(`${service} ${operation}`, { kind: CLIENT }, active);
      return {
        traceParent: traceParentOf(span.spanContext()),
        ended(result: UpstreamResult) {
          span.setAttribute("stackroom.service", service);
          span.setAttribute("stackroom.operation", operation);
          if (typeof result === "number") span.setAttribute("http.response.status_code", result);
          if (typeof result === "string" || result >= 400) fail(span, String(result));
          span.end();
        },
      };
    },
  };
}

/** Null where telemetry is off, which the runtime says by an error. A span that does not end is not sent. */
function openTracer({ tracerProvider, contextManager }: Telemetry): Tracer | null {
  try {
    const tracer = tracerProvider.getTracer("stackroom");
    tracer.startSpan("probe", { kind: SERVER }, contextManager.active());
    return tracer;
  } catch {
    return null;
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: ERROR });
}

/** The span that a `traceparent` names (W3C Trace Context, section 3.2). */
interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 1: it is recorded. */
  readonly traceFlags: number;
}

/** Later versions may append to it, but not so much. */
const MAX_LENGTH = 128;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent`; null if it is missing or invalid: the request starts a new trace. */
export function readTraceParent(text: string | null): TraceParent | null {
  if (text === null || text.length > MAX_LENGTH) return null;
  const [, version, traceId, spanId, flags, more] = text.match(FORM) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

/** The header that names a span as the parent of what an upstream does. */
export function traceParentOf({ traceId, spanId, traceFlags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${traceFlags & 1 ? "01" : "00"}`;
}
