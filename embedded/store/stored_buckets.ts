import { type Acl, parseAcl, S3_ACCESS, type S3Access } from "./access.ts";
import type { Versioning } from "./changes.ts";
import { folded, type NamePage, ofNamePage } from "./names.ts";
import type { Cell, Statements } from "./statements.ts";

/** A bucket, which is a namespace of its tenant. */
export interface Bucket {
  id: number;
  tenant: number;
  name: string;
  guid: string;
  owner: number | null;
  versioning: Versioning;
  /** The namespace's settings as MAPI shows them, without those that have columns of their own. */
  record: Record<string, unknown>;
  createdMs: number;
  storedBytes: number;
  storedCount: number;
  /** Null where none was set. */
  acl: Acl | null;
  /** Bytes of parts that are not yet an object. */
  partBytes: number;
  /** The mask of the data access permissions that tenant and namespace allow. */
  allowed: number;
  /** Which S3 requests may reach it. */
  s3Access: S3Access;
  /** Allowed client addresses (JSON, `ipSettings` of protocols/http); null where unset. */
  addressRules: string | null;
}

/** Reads buckets and what users may do in them. Names are looked up case-insensitively. */
export class Buckets {
  constructor(private readonly index: Statements) {}

  bucket(tenant: number, name: string): Bucket | null {
    return this.#buckets("WHERE tenant = ? AND folded = ?", tenant, folded(name))[0] ?? null;
  }

  /** All buckets of a tenant in the order of their names. */
  ofTenant(tenant: number): Bucket[] {
    return this.#buckets("WHERE tenant = ? ORDER BY folded", tenant);
  }

  /** A page of a tenant's buckets. */
  page(tenant: number, page: NamePage): Bucket[] {
    return this.#buckets(ofNamePage(page), tenant, page.prefix, page.count, page.offset);
  }

  /** The buckets that a user owns or has any permission in, alone or in a group, in the order of their names. */
  visibleTo(user: number): Bucket[] {
    return this.#buckets(
      `WHERE id IN (
         SELECT bucket FROM grants WHERE user = ?1
         UNION SELECT bucket FROM group_members JOIN group_grants USING (group_id) WHERE user = ?1
         UNION SELECT id FROM buckets WHERE owner = ?1
       ) ORDER BY folded`,
      user,
    );
  }

  /** How a bucket retains versions. */
  versionSettings(bucket: number): VersionSettings {
    return versionSettings(this.index.text("SELECT version_settings FROM buckets WHERE id = ?", bucket) ?? "{}");
  }

  /** The own CORS rules (XML) of a bucket or a tenant; null where there are none. */
  cors(of: { bucket: number } | { tenant: number }): string | null {
    const [table, id] = "bucket" in of ? ["buckets", of.bucket] : ["tenants", of.tenant];
    return this.index.text(`SELECT cors FROM ${table} WHERE id = ?`, id);
  }

  /** The CORS rules (XML) that hold in a bucket: its own, else its tenant's; null where there are none, or no bucket. */
  corsInForce(tenant: number, name: string): string | null {
    const sql = `SELECT COALESCE(buckets.cors, tenants.cors) FROM buckets JOIN tenants ON tenants.id = buckets.tenant
      WHERE buckets.tenant = ? AND buckets.folded = ?`;
    return this.index.text(sql, tenant, folded(name));
  }

  /** The mask of the data access permissions of a user in a bucket, its own and those of its groups; 0 is none. */
  permissions(user: number, bucket: number): number {
    const sql = `SELECT permissions FROM grants WHERE user = ?1 AND bucket = ?2
      UNION ALL SELECT permissions FROM group_members JOIN group_grants USING (group_id)
      WHERE user = ?1 AND bucket = ?2`;
    return this.index.rows(sql, user, bucket).reduce((mask, [permissions]) => mask | Number(permissions), 0);
  }

  /** The data access permissions of a user itself, or of a group, as masks by the buckets' numbers. */
  grantsTo(to: { user: number } | { group: number }): Map<number, number> {
    const [table, column, id] = "user" in to ? ["grants", "user", to.user] : ["group_grants", "group_id", to.group];
    const rows = this.index.rows(`SELECT bucket, permissions FROM ${table} WHERE ${column} = ?`, id);
    return new Map(rows.map(([bucket, permissions]) => [Number(bucket), Number(permissions)]));
  }

  #buckets(which: string, ...parameters: Cell[]): Bucket[] {
    return this.index.records<Stored>(`${BUCKET} ${which}`, ...parameters).map((row) => ({
      ...row,
      record: JSON.parse(row.record),
      acl: parseAcl(row.acl),
      s3Access: S3_ACCESS[row.s3Access],
    }));
  }
}

/** A bucket as its row holds it: the record and the access list are JSON. */
type Stored = Omit<Bucket, "record" | "acl" | "s3Access"> & { record: string; acl: string | null; s3Access: number };

const BUCKET = `SELECT id, tenant, name, guid, owner, versioning, record, created_ms AS createdMs,
  stored_bytes AS storedBytes, stored_count AS storedCount, acl, part_bytes AS partBytes,
  permission_mask & (SELECT permission_mask FROM tenants WHERE tenants.id = tenant) AS allowed, s3_access AS s3Access,
  (SELECT json_extract(document, '$.ipSettings') FROM documents WHERE documents.tenant = buckets.tenant
   AND documents.bucket = buckets.id AND documents.kind = 'protocols/http' AND documents.folded = '') AS addressRules
  FROM buckets`;

/**
 * How a bucket retains versions, apart from whether it does (management API, versioningSettings); the defaults are what
 * clients of S3 expect.
 */
const DEFAULTS = {
  /** Whether old versions are removed … */
  prune: false,
  /** … once they have been old for so many days. */
  pruneDays: 0,
  /** Whether a deleted key gets a marker. Its versions stay either way. */
  useDeleteMarkers: true,
  /** Whether what was deleted for good leaves a record, which prevents the deletion of the bucket. */
  keepDeletionRecords: false,
};

type VersionSettings = Readonly<typeof DEFAULTS>;

/** The settings of a bucket: those that were set (JSON) over the defaults. */
export function versionSettings(stored: string): VersionSettings {
  return stored === "{}" ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(stored) };
}

/**
 * Warns when a namespace or a tenant reaches its soft quota, a percentage of the hard one (management API, softQuota),
 * so that the operator knows before writes fail.
 */
export class SoftQuotas {
  /** Tenants and buckets whose warning was printed, until their usage falls below the soft quota. */
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
