import { type Acl, parseAcl } from "./acl.ts";
import type { Versioning } from "./changes.ts";
import { folded, type NamePage, ofNamePage } from "./names.ts";
import { S3_ACCESS, type S3Access } from "./permissions.ts";
import { roomIn } from "./quotas.ts";
import { type Cell, numberOrNull, type Statements, textOrNull } from "./statements.ts";

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
  /** The mask of the data access permissions that tenant and namespace allow at all. */
  allowed: number;
  /** Which S3 requests may reach it. */
  s3Access: S3Access;
  /** From which addresses (JSON, `ipSettings` of protocols/http); null where nothing was set. */
  addressRules: string | null;
}

/** Reads buckets and what users may do in them. Names are looked up case-insensitively. */
export class Buckets {
  readonly #index: Statements;

  constructor(index: Statements) {
    this.#index = index;
  }

  bucket(tenant: number, name: string): Bucket | null {
    const row = this.#index.row(`SELECT ${BUCKET} FROM buckets WHERE tenant = ? AND folded = ?`, tenant, folded(name));
    return row && bucketOf(row);
  }

  /** All buckets of a tenant in the order of their names. */
  ofTenant(tenant: number): Bucket[] {
    return this.#index.rows(`SELECT ${BUCKET} FROM buckets WHERE tenant = ? ORDER BY folded`, tenant).map(bucketOf);
  }

  /** A page of a tenant's buckets. */
  page(tenant: number, page: NamePage): Bucket[] {
    const { prefix, offset, count } = page;
    return this.#index.rows(`SELECT ${BUCKET} FROM buckets ${ofNamePage(page)}`, tenant, prefix, count, offset)
      .map(bucketOf);
  }

  /** The buckets that a user owns or has any permission in, alone or in a group, in the order of their names. */
  visibleTo(user: number): Bucket[] {
    return this.#index.rows(
      `SELECT ${BUCKET} FROM buckets WHERE id IN (
         SELECT bucket FROM grants WHERE user = ?1
         UNION SELECT bucket FROM group_members JOIN group_grants USING (group_id) WHERE user = ?1
         UNION SELECT id FROM buckets WHERE owner = ?1
       ) ORDER BY folded`,
      user,
    ).map(bucketOf);
  }

  /** How a bucket retains versions. */
  versionSettings(bucket: number): VersionSettings {
    const row = this.#index.row("SELECT version_settings FROM buckets WHERE id = ?", bucket);
    return versionSettings(String(row?.[0] ?? "{}"));
  }

  /** How many bytes may still be added by the quotas; negative where more are there than they allow. */
  room(bucket: number): number {
    return roomIn(this.#index, bucket);
  }

  /** A bucket's own CORS rules (XML); null where it has none. */
  cors(bucket: number): string | null {
    const row = this.#index.row("SELECT cors FROM buckets WHERE id = ?", bucket);
    return row && textOrNull(row[0]);
  }

  /** The CORS rules (XML) that hold in a bucket: its own, else its tenant's; null where there are none, or no bucket. */
  corsInForce(tenant: number, name: string): string | null {
    const row = this.#index.row(
      `SELECT COALESCE(buckets.cors, tenants.cors) FROM buckets JOIN tenants ON tenants.id = buckets.tenant
       WHERE buckets.tenant = ? AND buckets.folded = ?`,
      tenant,
      folded(name),
    );
    return row && textOrNull(row[0]);
  }

  /** The mask of the data access permissions of a user in a bucket, its own and those of its groups; 0 is none. */
  permissions(user: number, bucket: number): number {
    const rows = this.#index.rows(
      `SELECT permissions FROM grants WHERE user = ?1 AND bucket = ?2
       UNION ALL SELECT permissions FROM group_members JOIN group_grants USING (group_id)
       WHERE user = ?1 AND bucket = ?2`,
      user,
      bucket,
    );
    return rows.reduce((mask, [permissions]) => mask | Number(permissions), 0);
  }

  /** The data access permissions of a user itself, as masks by the buckets' numbers. */
  grantsTo(user: number): Map<number, number> {
    return masks(this.#index.rows("SELECT bucket, permissions FROM grants WHERE user = ?", user));
  }

  /** The same of a group. */
  grantsToGroup(group: number): Map<number, number> {
    return masks(this.#index.rows("SELECT bucket, permissions FROM group_grants WHERE group_id = ?", group));
  }
}

const BUCKET =
  `id, tenant, name, guid, owner, versioning, record, created_ms, stored_bytes, stored_count, acl, part_bytes,
  permission_mask & (SELECT permission_mask FROM tenants WHERE tenants.id = tenant), s3_access,
  (SELECT json_extract(document, '$.ipSettings') FROM documents WHERE documents.tenant = buckets.tenant
   AND documents.bucket = buckets.id AND documents.kind = 'protocols/http' AND documents.folded = '')`;

function bucketOf(cells: Cell[]): Bucket {
  return {
    id: Number(cells[0]),
    tenant: Number(cells[1]),
    name: String(cells[2]),
    guid: String(cells[3]),
    owner: numberOrNull(cells[4]),
    versioning: cells[5] as Versioning,
    record: JSON.parse(String(cells[6])),
    createdMs: Number(cells[7]),
    storedBytes: Number(cells[8]),
    storedCount: Number(cells[9]),
    acl: parseAcl(textOrNull(cells[10])),
    partBytes: Number(cells[11]),
    allowed: Number(cells[12]),
    s3Access: S3_ACCESS[Number(cells[13])],
    addressRules: textOrNull(cells[14]),
  };
}

function masks(rows: readonly Cell[][]): Map<number, number> {
  return new Map(rows.map(([bucket, permissions]) => [Number(bucket), Number(permissions)]));
}

/** How a bucket retains versions, apart from whether it does (management API, versioningSettings). */
interface VersionSettings {
  /** Whether old versions are removed … */
  prune: boolean;
  /** … once they have been old for so many days. */
  pruneDays: number;
  /** Whether a deleted key gets a marker. Its versions stay either way. */
  useDeleteMarkers: boolean;
  /** Whether what was deleted for good leaves a record, which prevents the deletion of the bucket. */
  keepDeletionRecords: boolean;
}

/** The defaults of a bucket: what clients of S3 expect. */
const DEFAULTS: VersionSettings = { prune: false, pruneDays: 0, useDeleteMarkers: true, keepDeletionRecords: false };

/** The settings of a bucket: those that were set (JSON) over the defaults. */
export function versionSettings(stored: string): VersionSettings {
  return stored === "{}" ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(stored) };
}
