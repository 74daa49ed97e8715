import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { StoreAuditAction } from "@/lib/std/audit_words.ts";
import type { Cell, Statements } from "./statements.ts";

/** Who requested a change, as far as the audit trail is concerned. */
export interface ChangeOrigin {
  /** The account's name; null for a request without credentials. */
  readonly actor: string | null;
  /** Whether the account is one of the system level. */
  readonly isSystem: boolean;
  /** The IP address of the client; null where it is unknown. */
  readonly address: string | null;
  readonly requestId: string | null;
  /** Whether the gateway of this process sent it, which has a record of its own. */
  readonly isByGateway: boolean;
}

/** Failed logins of one name from one address. */
export interface FailedLogin {
  /** 0: the system level. */
  readonly tenant: number;
  /** Null for many names at once, or one that no account can have. */
  readonly name: string | null;
  /** Null for many addresses at once. */
  readonly address: string | null;
  readonly protocol: "s3" | "mapi";
  /** Whether the gateway of this process sent them, which has records of its own. */
  readonly isByGateway: boolean;
  readonly count: number;
}

/** Flat members of a record beside its target: never a secret, and nothing of a body. */
export type AuditDetails = Readonly<Record<string, string | number | boolean>>;

/** A row of the table `audit`, without its hash. */
export interface AuditRow {
  readonly id: number;
  /** ms since 1970 */
  readonly atMs: number;
  /** The number of the tenant that it happened to; 0: none. */
  readonly tenant: number;
  readonly action: StoreAuditAction;
  readonly origin: ChangeOrigin | null;
  readonly bucket: string | null;
  readonly key: Uint8Array | null;
  readonly version: string | null;
  /** The name of an account, a group, a tenant or a class. */
  readonly name: string | null;
  readonly details: AuditDetails | null;
}

/** The hash that the first record of a trail follows. */
const NO_HASH = new Uint8Array(32);

const COLUMNS =
  "id, at_ms, tenant, action, actor, is_system, address, request, by_gateway, bucket, key, version, name, details";

/** The columns of a row, and the hash of the row. */
export const AUDIT_COLUMNS = `${COLUMNS}, hash`;

/** The cells of a row in the order of {@link AUDIT_COLUMNS}, without the hash. */
export function auditCells(row: AuditRow): Cell[] {
  const { origin } = row;
  return [
    row.id,
    row.atMs,
    row.tenant,
    row.action,
    origin?.actor ?? null,
    origin?.isSystem ? 1 : 0,
    origin?.address ?? null,
    origin?.requestId ?? null,
    origin?.isByGateway ? 1 : 0,
    row.bucket,
    row.key,
    row.version,
    row.name,
    row.details && JSON.stringify(row.details),
  ];
}

/** The hash of a row: SHA-256 over the hash of the row before and the cells as a JSON array, the key in base64. */
export function auditHash(previous: Uint8Array, cells: readonly Cell[]): Uint8Array {
  const text = JSON.stringify(cells.map((cell) => cell instanceof Uint8Array ? bytesText(cell) : cell));
  return hash("sha256", bytesText(previous) + text, "buffer");
}

function bytesText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Where a chain begins, or goes on: the number of a record and its hash. */
export interface ChainPosition {
  readonly id: number;
  readonly hash: Uint8Array;
}

/** What the first record of the trail follows: the last that was removed as too old. */
function chainStart(index: Statements): ChainPosition {
  const row = index.row("SELECT id, hash FROM audit_start");
  return row ? { id: Number(row[0]), hash: bytesOf(row[1]) } : { id: 0, hash: NO_HASH };
}

/** What the next record of the trail follows. */
export function chainEnd(index: Statements): ChainPosition {
  const row = index.row("SELECT id, hash FROM audit ORDER BY id DESC LIMIT 1");
  return row ? { id: Number(row[0]), hash: bytesOf(row[1]) } : chainStart(index);
}

/**
 * Reads the whole trail and checks that each record follows the one before. The end of the trail is not known by
 * anything else: records that are missing there are not noticed.
 *
 * @returns how many records there are, and the first fault; null: none
 */
export function checkChain(index: Statements): { readonly records: number; readonly fault: string | null } {
  let { id: lastId, hash: last } = chainStart(index);
  let records = 0;
  for (const row of index.each(`SELECT ${AUDIT_COLUMNS} FROM audit ORDER BY id`)) {
    const cells = row.slice(0, -1);
    const id = Number(cells[0]);
    if (id !== lastId + 1) {
      const missing = id === lastId + 2
        ? `record ${lastId + 1} is missing`
        : `records ${lastId + 1} to ${id - 1} are missing`;
      return { records, fault: missing };
    }
    const stated = bytesOf(row[row.length - 1]);
    if (Buffer.compare(auditHash(last, cells), stated) !== 0) {
      return { records, fault: `record ${id} was changed, or does not follow the one before` };
    }
    last = stated;
    lastId = id;
    records++;
  }
  return { records, fault: null };
}

function bytesOf(cell: Cell): Uint8Array {
  return cell instanceof Uint8Array ? cell : NO_HASH;
}
