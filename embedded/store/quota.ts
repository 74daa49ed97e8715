import type { Cell, Statements } from "./statements.ts";

/** The units of quotas, in bytes: the store counts in powers of 1024. */
const UNIT_BYTES: Readonly<Record<string, number>> = { MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** The bytes that a quota such as `50 GB` allows; Infinity for anything that is not one. */
export function quotaBytes(quota: Cell): number {
  const match = /^([0-9]{1,12}(?:\.[0-9]{1,2})?) (MB|GB|TB)$/.exec(String(quota ?? ""));
  return match ? Math.floor(Number(match[1]) * UNIT_BYTES[match[2]]) : Infinity;
}

/**
 * How many bytes may still be added to a bucket by its own hard quota and its tenant's; negative where a quota was made
 * smaller than what is there. All versions count, and the parts of uploads. 0 for a bucket that is gone.
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
