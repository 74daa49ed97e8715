import type { AuditActor, AuditDetail, AuditEvent, AuditResult, AuditTarget } from "@/lib/http/audit_event.ts";
import { clip, isLonger } from "@/lib/std/untrusted.ts";

/** Grows only when a member changes its meaning. */
const RECORD_VERSION = 1;

/** Longest text in a record, characters: a client chooses names and keys. */
const MAX_TEXT = 1024;
/** Most texts of a list in the details. */
const MAX_LISTED = 20;

/** A record as it is stored, sent and read: one JSON object with these members in this order. New ones may be added. */
export interface AuditRecord {
  readonly v: typeof RECORD_VERSION;
  /** `<trail>.<number>`; the numbers of a trail have no gaps. */
  readonly id: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly time: string;
  readonly source: "application";
  /** The role that handled the request; null: none did. */
  readonly role: AuditEvent["role"];
  readonly action: AuditEvent["action"];
  /** The tenant that it happened to, in lower case; null: none. */
  readonly tenant: string | null;
  readonly actor: AuditActor | null;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly target: AuditTarget;
  readonly result: AuditResult;
  readonly status: number | null;
  readonly details: Readonly<Record<string, AuditDetail>>;
}

/**
 * The record of an event.
 *
 * @param id `<trail>.<number>`
 * @param atMs ms since 1970
 */
export function auditRecord(event: AuditEvent, id: string, atMs: number): AuditRecord {
  const { role, action, tenant, actor, address, requestId, target, result, status, details } = event;
  return {
    v: RECORD_VERSION,
    id,
    time: new Date(atMs).toISOString(),
    source: "application",
    role,
    action,
    tenant: tenant === null ? null : bounded(tenant.toLowerCase()),
    actor: actor && { name: bounded(actor.name), tenant: actor.tenant && bounded(actor.tenant.toLowerCase()) },
    address,
    request_id: requestId,
    target: { kind: target.kind, ...present({ ...target }, bounded) },
    result,
    status,
    details: present(details ?? {}, boundedDetail),
  };
}

/** The members of an object that are not undefined, each as `map` returns it. */
function present<Value>(members: Readonly<Record<string, Value | undefined>>, map: (value: Value) => Value) {
  const found: Record<string, Value> = {};
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) found[name] = map(value);
  }
  return found;
}

/** Control characters that JSON leaves as they are, separators of lines, and what turns the direction of a text. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A record as JSON on one line, which no character of a name can end or disguise. */
export function recordText(record: AuditRecord): string {
  return JSON.stringify(record).replace(UNSAFE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function boundedDetail(value: AuditDetail): AuditDetail {
  if (typeof value === "string") return bounded(value);
  if (typeof value === "object") return value.slice(0, MAX_LISTED).map(bounded);
  return value;
}

/** A text of at most {@link MAX_TEXT} characters, the last of which says that it was longer. */
function bounded(text: string): string {
  const whole = isLonger(text, MAX_TEXT) ? `${clip(text, MAX_TEXT - 1)}…` : text;
  return whole.toWellFormed();
}
