import { AUDIT_RESULTS, type AuditResult } from "@/lib/std/audit_words.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";

export { AUDIT_ACTIONS, AUDIT_RESULTS, type AuditResult } from "@/lib/std/audit_words.ts";

/** What something was done to. */
interface AuditTarget {
  readonly kind: string;
  readonly bucket: string | null;
  readonly key: string | null;
  readonly prefix: string | null;
  readonly version: string | null;
  readonly name: string | null;
}

/** A record of the audit trail. */
export interface AuditRecord {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly time: string;
  readonly isOfStore: boolean;
  /** As the gateway names it, which may have a newer list than this page. */
  readonly action: string;
  /** The tenant that it happened to; null: none, or the system level. */
  readonly tenant: string | null;
  /** `tenant/user`; null: without credentials. */
  readonly actor: string | null;
  /** Null where it is not known. */
  readonly address: string | null;
  readonly requestId: string | null;
  readonly target: AuditTarget;
  readonly result: AuditResult;
  /** Of HTTP; null: there was none. */
  readonly status: number | null;
  /** Names and values, lists as lines. */
  readonly details: readonly (readonly [name: string, values: readonly string[]])[];
}

/** A page of the trail, the newest first. */
interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Continues it; null at its end. */
  readonly next: string | null;
  /** How far back it was looked through, ISO 8601; null: to its end. */
  readonly searchedTo: string | null;
  /** Whether the application keeps a trail that can be read here. */
  readonly hasApplication: boolean;
}

/** Reads a page of the gateway's audit trail; null where it is none. */
export function readAuditPage(answer: unknown): AuditPage | null {
  const records = member(answer, "records");
  if (!Array.isArray(records)) return null;
  return {
    records: records.flatMap((record) => readRecord(record) ?? []),
    next: stringAt(answer, "next"),
    searchedTo: stringAt(answer, "searched_to"),
    hasApplication: stringAt(answer, "sources", "application") === "process",
  };
}

function readRecord(record: unknown): AuditRecord | null {
  const [id, time, action] = ["id", "time", "action"].map((name) => stringAt(record, name));
  const result = AUDIT_RESULTS.find((one) => one === stringAt(record, "result"));
  if (id === null || time === null || action === null || result === undefined) return null;
  const status = member(record, "status");
  const actor = stringAt(record, "actor", "name");
  const tenant = stringAt(record, "actor", "tenant");
  const target = (name: string) => stringAt(record, "target", name);
  return {
    id,
    time,
    action,
    result,
    isOfStore: stringAt(record, "source") === "store",
    tenant: stringAt(record, "tenant"),
    actor: actor === null || tenant === null ? actor : `${tenant}/${actor}`,
    address: stringAt(record, "address"),
    requestId: stringAt(record, "request_id"),
    target: {
      kind: target("kind") ?? "",
      bucket: target("bucket"),
      key: target("key"),
      prefix: target("prefix"),
      version: target("version_id"),
      name: target("name"),
    },
    status: typeof status === "number" ? status : null,
    details: detailsOf(member(record, "details")),
  };
}

function detailsOf(details: unknown): (readonly [string, readonly string[]])[] {
  if (typeof details !== "object" || details === null) return [];
  return Object.entries(details).flatMap(([name, value]): (readonly [string, readonly string[]])[] => {
    const values = (Array.isArray(value) ? entries(value) : [value])
      .filter((one) => typeof one === "string" || typeof one === "number" || typeof one === "boolean").map(String);
    return values.length === 0 ? [] : [[name, values]];
  });
}
