import { type AuditTargetKind, STORE_AUDIT_ACTIONS, type StoreAuditAction } from "@/lib/std/audit_words.ts";
import type { AuditDetails } from "./audit_record.ts";
import { SYSTEM } from "./accounts.ts";
import { type Cell, type Statements, textOrNull } from "./statements.ts";
import { folded } from "./names.ts";
import { successor } from "./objects.ts";

/** How many records one page looks at: a filter that matches few must not hold up other requests. */
const LOOKED_AT = 20_000;

/** A place in the trail: a page continues before it. */
export interface AuditPosition {
  readonly atMs: number;
  readonly id: number;
}

/** Which records a page has; what is left out does not matter. */
interface AuditFilter {
  /** ms since 1970: from this on, and before that. */
  readonly fromMs?: number;
  readonly beforeMs?: number;
  readonly action?: StoreAuditAction;
  readonly actor?: string;
  readonly bucket?: string;
  /** What keys begin with. */
  readonly prefix?: string;
  readonly requestId?: string;
  readonly result?: "succeeded" | "refused";
  /** Leaves out what the gateway of this process requested. */
  readonly direct?: boolean;
}

interface AuditTarget {
  readonly kind: Exclude<AuditTargetKind, "objects" | "session" | "task" | "trail">;
  readonly bucket?: string;
  readonly key?: string;
  readonly version_id?: string;
  readonly name?: string;
}

/** A record as it is read. */
interface AuditRecord {
  readonly id: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly time: string;
  readonly source: "store";
  readonly action: StoreAuditAction;
  readonly tenant: string | null;
  readonly actor: { readonly name: string } | null;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly target: AuditTarget;
  readonly result: "succeeded" | "refused";
  readonly status: number;
  /** With `via` where the gateway of this process sent the request. */
  readonly details: AuditDetails;
}

interface AuditPage {
  /** The newest first. */
  readonly records: readonly AuditRecord[];
  /** Where the next page begins; null at the end. A page may have none and yet not be the last. */
  readonly next: AuditPosition | null;
}

/** Reads the audit trail. */
export class AuditRecords {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  /**
   * A page of what happened to a tenant; of {@link SYSTEM}: what happened to no tenant, and what accounts of the system
   * level did.
   */
  page(tenant: number, filter: AuditFilter, after: AuditPosition | null, count: number): AuditPage {
    const scope = tenant === SYSTEM ? "(tenant = 0 OR is_system = 1)" : "tenant = ?1";
    const upper = after ?? { atMs: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
    const lookedAt = this.#index.row(
      `SELECT at_ms, id FROM audit WHERE ${scope} AND (at_ms, id) < (?2, ?3) AND at_ms < ?4 AND at_ms >= ?5 AND ?1 >= 0
       ORDER BY at_ms DESC, id DESC LIMIT 1 OFFSET ${LOOKED_AT - 1}`,
      tenant,
      upper.atMs,
      upper.id,
      filter.beforeMs ?? Number.MAX_SAFE_INTEGER,
      filter.fromMs ?? 0,
    );
    const lower = lookedAt && { atMs: Number(lookedAt[0]), id: Number(lookedAt[1]) };
    const key = filter.prefix === undefined ? null : new TextEncoder().encode(filter.prefix);
    const rows = this.#index.rows(
      `SELECT ${READ} FROM audit WHERE ${scope} AND (at_ms, id) < (?2, ?3) AND at_ms < ?4 AND at_ms >= ?5
       AND (at_ms, id) >= (?6, ?7) AND ?1 >= 0
       AND (?8 IS NULL OR action = ?8) AND (?9 IS NULL OR actor = ?9 COLLATE NOCASE) AND (?10 IS NULL OR bucket = ?10)
       AND (?11 IS NULL OR key >= ?11) AND (?12 IS NULL OR key < ?12) AND (?13 IS NULL OR request = ?13)
       AND (?14 IS NULL OR (action = 'login_failed') = ?14) AND (?15 = 0 OR by_gateway = 0)
       ORDER BY at_ms DESC, id DESC LIMIT ?16`,
      tenant,
      upper.atMs,
      upper.id,
      filter.beforeMs ?? Number.MAX_SAFE_INTEGER,
      filter.fromMs ?? 0,
      lower?.atMs ?? 0,
      lower?.id ?? 0,
      filter.action ?? null,
      filter.actor ?? null,
      filter.bucket ?? null,
      key,
      key && successor(key),
      filter.requestId ?? null,
      filter.result === undefined ? null : filter.result === "refused" ? 1 : 0,
      filter.direct ? 1 : 0,
      count,
    );
    const records = rows.map((row) => recordOf(row));
    const last = rows.at(-1);
    const next = rows.length === count && last ? { atMs: Number(last[1]), id: Number(last[0]) } : lower;
    return { records, next };
  }
}

const READ = `id, at_ms, action, (SELECT name FROM tenants WHERE id = tenant), actor, is_system, address, request,
  by_gateway, bucket, key, version, name, details`;

function recordOf(row: Cell[]): AuditRecord {
  const [id, atMs, word, tenant, actor, isSystem, address, request, byGateway, bucket, key, version, name, text] = row;
  const action = STORE_AUDIT_ACTIONS.find((one) => one === word) ?? "bucket_settings";
  const { group, ...details }: AuditDetails = {
    ...(text === null ? {} : JSON.parse(String(text))),
    ...(isSystem === 1 ? { system_account: true } : {}),
    ...(byGateway === 1 ? { via: "gateway" } : {}),
  };
  const isFailure = action === "login_failed";
  return {
    id: String(id),
    time: new Date(Number(atMs)).toISOString(),
    source: "store",
    action,
    tenant: tenant === null ? null : folded(String(tenant)),
    actor: actor === null ? null : { name: String(actor) },
    address: textOrNull(address),
    request_id: textOrNull(request),
    target: targetOf(action, group === true, bucket, key, version, name),
    result: isFailure ? "refused" : "succeeded",
    status: isFailure ? 403 : 200,
    details,
  };
}

function targetOf(
  action: StoreAuditAction,
  isGroup: boolean,
  bucket: Cell,
  key: Cell,
  version: Cell,
  name: Cell,
): AuditTarget {
  return {
    kind: kindOf(action, isGroup, bucket, key, name),
    ...(bucket === null ? {} : { bucket: String(bucket) }),
    ...(key instanceof Uint8Array ? { key: new TextDecoder().decode(key) } : {}),
    ...(version === null ? {} : { version_id: String(version) }),
    ...(name === null ? {} : { name: String(name) }),
  };
}

function kindOf(action: StoreAuditAction, isGroup: boolean, bucket: Cell, key: Cell, name: Cell): AuditTarget["kind"] {
  if (key !== null) return "object";
  if (action.startsWith("tenant_")) return "tenant";
  if (action.startsWith("content_class_")) return "content_class";
  if (action.startsWith("group_") || isGroup) return "group";
  if (name !== null || action === "login_failed") return "account";
  return bucket === null ? "tenant" : "bucket";
}
