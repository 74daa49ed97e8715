/** What a caller's or an upstream's `traceparent` names (W3C Trace Context, section 3.2). */
export interface TraceParent {
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

/** Reads a `traceparent`; null for a missing or invalid one, which begins a trace of its own. */
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
