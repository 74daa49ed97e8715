import {
  AUDIT_COLUMNS,
  auditCells,
  auditHash,
  chainEnd,
  type ChainPosition,
  type ChangeOrigin,
  type FailedLogin,
} from "@/embedded/store/audit_record.ts";
import type { Change, ChangeKind, Input, Result } from "@/embedded/store/changes.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { retainedFrom, startOfDay } from "@/lib/std/retention_age.ts";
import { audited, type AuditEntry } from "./audited_changes.ts";

/** How many records one change removes as too old: other changes wait for the commit. */
const EXPIRE_LIMIT = 1000;

const INSERT = `INSERT INTO audit (${AUDIT_COLUMNS}) VALUES (${AUDIT_COLUMNS.replace(/\w+/g, "?")})`;

/**
 * The audit trail of the index. Records are collected while a group of changes is applied and are written in its
 * transaction, so a change that was acknowledged has its record, and one that was not has none.
 */
export class AuditTrail {
  readonly #index: Statements;
  readonly #now: () => number;
  #end: ChainPosition;
  #waiting: { readonly entry: AuditEntry; readonly origin: ChangeOrigin | null }[] = [];

  /** `now` returns milliseconds since 1970. */
  constructor(index: Statements, now: () => number = Date.now) {
    this.#index = index;
    this.#now = now;
    this.#end = chainEnd(index);
  }

  /** Begins a group of changes: nothing of an earlier one that failed is written. */
  begin(): void {
    this.#waiting = [];
  }

  /**
   * Reads what a change is about before it is applied.
   *
   * @returns collects its record, once it has been applied
   */
  prepare(change: Change): (result: Result<ChangeKind>) => void {
    const entriesOf = audited(this.#index, change);
    if (entriesOf === null) return () => {};
    return (result) => {
      for (const [i, entry] of entriesOf(result).entries()) {
        const failure = change.kind === "recordFailedLogins" ? change.input.failures[i] : null;
        this.#waiting.push({ entry, origin: failure ? originOf(failure) : change.origin ?? null });
      }
    };
  }

  /**
   * Writes what was collected, within the transaction of the group.
   *
   * @returns called once the transaction is committed
   */
  write(): () => void {
    let end = this.#end;
    const atMs = this.#now();
    for (const { entry, origin } of this.#waiting) {
      const { tenant, action, bucket = null, key = null, version = null, name = null, details = null } = entry;
      const id = end.id + 1;
      const cells = auditCells({ id, atMs, tenant, action, origin, bucket, key, version, name, details });
      const hash = auditHash(end.hash, cells);
      this.#index.run(INSERT, ...cells, hash);
      end = { id, hash };
    }
    return () => {
      this.#end = end;
      this.#waiting = [];
    };
  }
}

function originOf({ name, address, isByGateway }: FailedLogin): ChangeOrigin {
  return { actor: name, isSystem: false, address, requestId: null, isByGateway };
}

/** The newest record before an instant: that of each tenant, as there is an index for, and the newest of those. */
const NEWEST_BEFORE = `WITH RECURSIVE tenants(number) AS (
  SELECT min(tenant) FROM audit
  UNION ALL SELECT (SELECT min(tenant) FROM audit WHERE tenant > number) FROM tenants WHERE number IS NOT NULL
) SELECT max((SELECT max(at_ms) FROM audit WHERE tenant = number AND at_ms < ?1)) FROM tenants WHERE number IS NOT NULL`;

/**
 * Removes the oldest records, some at a time, up to the first that is not too old: the trail then begins after the last
 * that was removed. `expired` is 0 when none is left.
 */
export function expireAudit(
  index: Statements,
  { nowMs, retentionDays }: Input<"expireAudit">,
): Result<"expireAudit"> {
  const newest = index.row(NEWEST_BEFORE, startOfDay(nowMs))?.[0] ?? null;
  const beforeMs = retainedFrom(nowMs, newest === null ? null : Number(newest), retentionDays);
  const oldest = index.rows(`SELECT id, at_ms, hash FROM audit ORDER BY id LIMIT ${EXPIRE_LIMIT}`);
  const kept = oldest.findIndex(([, atMs]) => Number(atMs) >= beforeMs);
  const removed = kept < 0 ? oldest : oldest.slice(0, kept);
  const last = removed.at(-1);
  if (!last) return { expired: 0 };
  index.run("DELETE FROM audit WHERE id <= ?", last[0]);
  index.run("DELETE FROM audit_start");
  index.run("INSERT INTO audit_start (id, hash) VALUES (?, ?)", last[0], last[2]);
  return { expired: removed.length };
}
