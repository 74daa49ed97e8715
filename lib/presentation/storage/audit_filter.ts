/** The filters of an audit trail, as an address has them; "" for one that is not set. */
export interface AuditFilter {
  /** From this instant on, and before that one: `2026-11-27T10:00`, in UTC unless there is an offset. */
  readonly start: string;
  readonly end: string;
  readonly actor: string;
  readonly action: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly result: string;
  readonly request: string;
  /** For accounts of the system level. */
  readonly tenant: string;
}

const FILTER_FIELDS = [
  "start",
  "end",
  "actor",
  "action",
  "bucket",
  "prefix",
  "result",
  "request",
  "tenant",
] as const satisfies readonly (keyof AuditFilter)[];

/** The filters that an address names. */
export function auditFilterOf(query: URLSearchParams): AuditFilter {
  const of = (name: keyof AuditFilter) => query.get(name)?.trim() ?? "";
  return {
    start: of("start"),
    end: of("end"),
    actor: of("actor"),
    action: of("action"),
    bucket: of("bucket"),
    prefix: of("prefix"),
    result: of("result"),
    request: of("request"),
    tenant: of("tenant"),
  };
}

/** An address without its empty filters. */
export function filledIn(filter: AuditFilter): Partial<AuditFilter> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/**
 * A filter as parameters of the gateway's operation, or the name of one that is no time. A time without an offset, as a
 * form sends it, is one in UTC.
 */
export function auditParameters(filter: AuditFilter): Record<string, string> | "start" | "end" {
  const parameters: Record<string, string> = {};
  for (const name of FILTER_FIELDS) {
    const value = filter[name];
    if (value === "") continue;
    if (name === "start" || name === "end") {
      const instant = instantOf(value);
      if (instant === null) return name;
      parameters[name] = instant;
    } else parameters[name === "request" ? "request_id" : name] = value;
  }
  return parameters;
}

const LOCAL = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A typed time as ISO 8601 in UTC; null for what is none. */
function instantOf(text: string): string | null {
  if (!LOCAL.test(text) && !WITH_OFFSET.test(text)) return null;
  const ms = Date.parse(WITH_OFFSET.test(text) ? text : text.includes("T") ? `${text}Z` : `${text}T00:00Z`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** A time for the field of a form, which takes none with an offset: in UTC; "" for what is no time. */
export function fieldTime(text: string): string {
  return instantOf(text)?.slice(0, 16) ?? "";
}
