import { Buffer } from "node:buffer";
import type { AuditActor, AuditDetail, AuditEvent, AuditTarget } from "@/lib/http/audit_event.ts";
import { clip, isLonger } from "@/lib/std/untrusted.ts";

/** Grows only when a member changes its meaning. */
const RECORD_VERSION = 1;

/** Longest text in a record, characters: a client chooses names and keys. */
const MAX_TEXT = 1024;
/** The same in a record that would be too long with such texts: those of control characters take six times their length. */
const SHORT_TEXT = 128;
/** Longest record as JSON, bytes: with its seal and a header it fits into a datagram, which has 65,507. */
const MAX_RECORD_BYTES = 60_000;
/** Most texts of a list in the details. */
const MAX_LISTED = 20;

/** A record as it is stored, sent and read: one JSON object with these members in this order. New ones may be added. */
export type AuditRecord = Readonly<ReturnType<typeof recordOf>>;

/**
 * The record of an event, and as JSON on one line of {@link MAX_RECORD_BYTES} at most.
 *
 * @param id `<trail>.<number>`
 * @param atMs ms since 1970
 */
export function auditRecord(
  event: AuditEvent,
  id: string,
  atMs: number,
): { readonly record: AuditRecord; readonly text: string } {
  const record = recordOf(event, id, atMs, MAX_TEXT);
  const text = jsonText(record);
  if (Buffer.byteLength(text) <= MAX_RECORD_BYTES) return { record, text };
  const shorter = recordOf(event, id, atMs, SHORT_TEXT);
  return { record: shorter, text: jsonText(shorter) };
}

/** @param maxText longest text in it, characters */
function recordOf(event: AuditEvent, id: string, atMs: number, maxText: number) {
  const { role, action, tenant, actor, address, requestId, result, status, details } = event;
  const bounded = (text: string) => boundedText(text, maxText);
  const boundedDetail = (value: AuditDetail) => {
    if (typeof value === "string") return bounded(value);
    if (typeof value === "object") return value.slice(0, MAX_LISTED).map(bounded);
    return value;
  };
  const source: "application" | "store" = role === "store" ? "store" : "application";
  const boundedActor: AuditActor | null = actor &&
    { name: bounded(actor.name), tenant: actor.tenant && bounded(actor.tenant.toLowerCase()) };
  const target: AuditTarget = { kind: event.target.kind, ...present({ ...event.target }, bounded) };
  return {
    v: RECORD_VERSION,
    /** `<trail>.<number>`; the numbers of a trail have no gaps. */
    id,
    /** ISO 8601 with milliseconds, UTC. */
    time: new Date(atMs).toISOString(),
    /** `store`: a client of the embedded store's own ports. */
    source,
    /** The part that handled the request; null: none did. */
    role,
    action,
    /** The tenant that it happened to, in lower case; null: none. */
    tenant: tenant === null ? null : bounded(tenant.toLowerCase()),
    actor: boundedActor,
    address,
    request_id: requestId,
    target,
    result,
    status,
    details: present(details ?? {}, boundedDetail),
  };
}

/** The members of an object that are not undefined, each as `map` returns it. */
function present<Value>(members: Readonly<Record<string, Value | undefined>>, map: (value: Value) => Value) {
  const found: Record<string, Value> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) found[name] = map(value);
  return found;
}

/** A text of at most so many characters, the last of which says that it was longer. */
function boundedText(text: string, maxText: number): string {
  const whole = isLonger(text, maxText) ? `${clip(text, maxText - 1)}…` : text;
  return whole.toWellFormed();
}

/** Control characters, separators of lines, and what turns the direction of a text. JSON escapes those below U+0020. */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A record as JSON on one line, which no character of a name can end or disguise. */
export function jsonText(record: object): string {
  return oneLine(JSON.stringify(record));
}

/** A text with escapes as those of JSON for what could end its line or disguise it. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
