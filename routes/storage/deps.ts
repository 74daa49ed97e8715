import type { KeyObject } from "node:crypto";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import type { RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import type { AuditReaders } from "@/lib/storage/audit_readers.ts";
import type { BucketUsage } from "@/lib/storage/bucket_usage.ts";
import type { LoginRights } from "@/lib/storage/login_rights.ts";
import type { StorageGateway } from "@/lib/storage/storage_gateway.ts";
import type { ResultsLogin } from "./results_side.ts";

/** What the storage pages work with. */
export interface StorageDeps {
  readonly gateway: StorageGateway;
  readonly usage: BucketUsage;
  readonly rights: LoginRights;
  readonly auditReaders: AuditReaders;
  /** Records logins and logouts; null or absent: nothing does. */
  readonly logins?: LoginRecorder | null;
  /** The keys of logins, of which the first one seals; none while they cannot be read. */
  readonly keys: () => readonly KeyObject[];
  readonly sessionHours: number;
  /** Logins that ended before their time. */
  readonly revoked: RevokedSessions;
  /** The tenant whose accounts open the campaigns too; null where it is not known or there are no tenants. */
  readonly campaignTenant: string | null;
  /** The login of the campaigns, which the same form opens; null in a site without a results service. */
  readonly results: ResultsLogin | null;
  /** ms since 1970 */
  readonly now: () => number;
}
