import type { Cell, Statements } from "./statements.ts";

/**
 * Warns when a namespace or a tenant reaches its soft quota, a percentage of the hard one (management API, softQuota),
 * so that the operator knows before writes fail.
 */
export class SoftQuotas {
  /** Buckets above their soft quota whose warning was printed. */
  #reached = new Set<string>();

  constructor(private readonly index: Statements, private readonly warn: (message: string) => void) {}

  /** Warns of each that reached its soft quota since the last check; the first check warns of all. */
  check(): void {
    const reached = new Set<string>();
    for (const row of [...this.index.each(TENANTS), ...this.index.each(BUCKETS)]) {
      const warning = warningOf(row);
      if (warning === null) continue;
      const id = String(row[0]);
      reached.add(id);
      if (!this.#reached.has(id)) this.warn(warning);
    }
    this.#reached = reached;
  }
}

const TENANTS = `SELECT 'tenant ' || id, 'tenant ' || name, used_bytes,
  json_extract(record, '$.hardQuota'), json_extract(record, '$.softQuota') FROM tenants WHERE used_bytes > 0`;

const BUCKETS = `SELECT 'bucket ' || buckets.id, 'namespace ' || buckets.name || ' of tenant ' || tenants.name,
  stored_bytes + part_bytes, json_extract(buckets.record, '$.hardQuota'), json_extract(buckets.record, '$.softQuota')
  FROM buckets JOIN tenants ON tenants.id = buckets.tenant WHERE stored_bytes + part_bytes > 0`;

function warningOf([_, what, used, hardQuota, softQuota]: readonly Cell[]): string | null {
  const most = quotaBytes(hardQuota);
  const share = Number(used) / most * 100;
  if (typeof softQuota !== "number" || most === Infinity || share < softQuota) return null;
  return `${what} holds ${share.toFixed(1)} % of its hardQuota of ${hardQuota} (softQuota ${softQuota} %)`;
}

/** The units of quotas, in bytes: the store counts in powers of 1024. */
const UNIT_BYTES: Readonly<Record<string, number>> = { MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** The bytes that a quota such as `50 GB` allows; Infinity for anything that is not one. */
export function quotaBytes(quota: Cell): number {
  const match = /^([0-9]{1,12}(?:\.[0-9]{1,2})?) (MB|GB|TB)$/.exec(String(quota ?? ""));
  return match ? Math.floor(Number(match[1]) * UNIT_BYTES[match[2]]) : Infinity;
}

/**
 * How many bytes may still be added to a bucket by its own hard quota and its tenant's; negative where a quota was
 * lowered below what is stored. All versions count, and the parts of uploads. 0 for a bucket that was deleted.
 */
export function roomIn(index: Statements, bucket: number): number {
  const row = index.row(
    `SELECT json_extract(buckets.record, '$.hardQuota'), stored_bytes + part_bytes,
     json_extract(tenants.record, '$.hardQuota'), used_bytes
     FROM buckets LEFT JOIN tenants ON tenants.id = buckets.tenant WHERE buckets.id = ?`,
    bucket,
  );
  if (!row) return 0;
  const [quota, stored, tenantQuota, used] = row;
  return Math.min(quotaBytes(quota) - Number(stored), quotaBytes(tenantQuota) - Number(used));
}
