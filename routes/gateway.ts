import type { ChainReader } from "@/lib/operations/audit/chain_reader.ts";
import { type AcceptedIdentities, Admission, type TokenFormat, tokenKey, tokenVerifier } from "@/lib/auth/admission.ts";
import type { GuessLimits } from "@/lib/auth/credential_memory.ts";
import type { Identify, S3Keys } from "@/lib/auth/store_credentials.ts";
import type { CorsOrigins, RequestLog } from "@/lib/http/app.ts";
import type { AuditRecorder, LoginRecorder } from "@/lib/http/audit_event.ts";
import {
  DEFAULT_MAX_REQUESTS,
  enterRole,
  maxTenantRequests,
  redactText,
  Slots,
  type UnprovenRequests,
} from "@/lib/http/request_context.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { type Mapi, mapiReachable, proveByMapi } from "@/lib/mapi/mapi_client.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { IssuedForms } from "@/lib/s3/listing.ts";
import { proveCredentials, s3Reachable } from "@/lib/s3/probes.ts";
import type { UploadSizes } from "@/lib/s3/object_upload.ts";
import type { FixitySchedules } from "@/lib/tasks/fixity/schedules.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { auditOperations } from "@/routes/api/v1/audit.ts";
import {
  authOperations,
  capabilitiesOperations,
  credentialsOperations,
  type StorageBackend,
} from "@/routes/api/v1/auth.ts";
import { aclOperations, bucketSettingOperations } from "@/routes/api/v1/bucket_settings.ts";
import { bucketContentOperations, bucketOperations } from "@/routes/api/v1/buckets.ts";
import { countOperations } from "@/routes/api/v1/count_task.ts";
import { deleteTaskOperations } from "@/routes/api/v1/delete_task.ts";
import { transferOperations } from "@/routes/api/v1/transfer_task.ts";
import { type AccountEnded, managementOperations } from "@/routes/api/v1/mapi/mod.ts";
import { multipartOperations } from "@/routes/api/v1/multipart.ts";
import { objectVersionOperations, tagOperations } from "@/routes/api/v1/object_versions.ts";
import { copyOperations, objectOperations, objectUploadOperations } from "@/routes/api/v1/objects.ts";
import { gatewayOperations, optionalOperations } from "@/routes/api/v1/operation.ts";
import { bulkOperations, presignOperations } from "@/routes/api/v1/presign.ts";
import { activeTaskOperations, TaskStreams } from "@/routes/api/v1/tasks.ts";
import { fixityOperations, fixityScheduleOperations } from "@/routes/api/v1/fixity.ts";
import { zipOperations } from "@/routes/api/v1/zip_task.ts";
import { reachability, type ReadinessCheck } from "./health.ts";

/** The dependencies of the gateway role. */
export interface GatewayDeps {
  /** The secrets whose tokens are accepted; the first one signs. */
  readonly tokenSecrets: readonly Uint8Array<ArrayBuffer>[];
  /** `signed` when absent. */
  readonly tokenFormat?: TokenFormat;
  readonly tokenLifetimeMinutes: number;
  readonly identify: Identify;
  /** The memory for credentials, shared by the roles of this process. */
  readonly accepted: AcceptedIdentities;
  readonly guesses: GuessLimits;
  readonly s3: S3;
  readonly mapi: Mapi;
  /** Works on background tasks in this process. */
  readonly tasks: TaskRunner;
  /** Fixity checks that run at times of their own; null or absent: none. */
  readonly schedules?: FixitySchedules | null;
  readonly backend: StorageBackend;
  readonly mapiEnabled: boolean;
  /** The keys with which a generic backend serves all callers; readiness lists buckets with them. */
  readonly sharedKeys: S3Keys | null;
  readonly corsOrigins: CorsOrigins;
  /** How the store writes version ids and the like; null or absent where it is not our own. */
  readonly issuedForms?: IssuedForms | null;
  /** Requests of one tenant at a time; as {@link maxTenantRequests} when absent. */
  readonly maxTenantRequests?: number;
  /** Whether any login is accepted, whatever the password: then none is recorded. */
  readonly acceptsAllLogins?: boolean;
  /** How uploads are cut; what the S3 API allows when absent. */
  readonly uploadSizes?: UploadSizes;
}

/** The audit trail of a process. */
export interface AuditDeps {
  readonly recorder: AuditRecorder;
  readonly logins: LoginRecorder;
  /** Null where this process cannot read what it has recorded. */
  readonly reader: ChainReader | null;
}

/** Slots of requests: of the role, of those whose credentials are not proven, and of logins. */
interface GatewaySlots {
  readonly role: Slots;
  readonly unproven: UnprovenRequests;
  readonly logins: UnprovenRequests;
}

/** Dependencies that all roles of a process share. */
interface ProcessDeps {
  /** The audit trail; null or absent: nothing is recorded. */
  readonly audit?: AuditDeps | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The operations of the gateway: the first two are open, the rest needs a bearer token. */
export function gatewayApi(
  deps: GatewayDeps,
  { audit, now, log }: ProcessDeps,
  { role, unproven, logins }: GatewaySlots,
  accountEnded: AccountEnded,
): Operation[] {
  const { s3, mapi, backend } = deps;
  const keys = deps.tokenSecrets.map(tokenKey);
  const tenants = new Slots(Infinity, deps.maxTenantRequests ?? maxTenantRequests(DEFAULT_MAX_REQUESTS));
  const admission = new Admission({
    ...deps,
    sharedKeys: deps.sharedKeys !== null,
    role,
    tenants,
    unproven,
    prove: (caller, protocol) =>
      protocol === "mapi" && caller.tenant === null ? proveByMapi(mapi, caller) : proveCredentials(s3, caller),
    logins: deps.acceptsAllLogins ? null : audit?.logins ?? null,
  });
  const access = { verify: tokenVerifier(keys), admission, recorder: audit?.recorder ?? null, now };
  const operation = gatewayOperations(access, "s3");
  const optional = optionalOperations(operation, backend);
  const tasks = { s3, tasks: deps.tasks, streams: new TaskStreams() };
  const management = deps.mapiEnabled ? mapi : null;
  const prunedBy = backend === "hcp" ? management : null;
  const forms = deps.issuedForms ?? null;
  const warn = (message: string) => log.write({ level: "warn", message: redactText(message) });
  return [
    ...authOperations({
      key: keys[0],
      format: deps.tokenFormat ?? "signed",
      lifetimeMinutes: deps.tokenLifetimeMinutes,
      now,
      slots: logins,
    }),
    ...capabilitiesOperations(
      { mapi_enabled: deps.mapiEnabled, storage_backend: backend },
      (context) => enterRole(role, context),
    ),

    ...(deps.mapiEnabled ? managementOperations(gatewayOperations(access, "mapi"), mapi, now, accountEnded) : []),

    ...auditOperations(gatewayOperations(access, "mapi"), { mapi: management, reader: audit?.reader ?? null }),

    ...bucketOperations(operation, s3, { mapi: prunedBy, warn }, forms),
    ...bucketSettingOperations(optional, s3),
    ...bucketContentOperations(operation, s3, forms),
    ...aclOperations(optional, s3),
    ...tagOperations(optional, s3, forms),
    ...objectVersionOperations(optional, s3, forms),
    ...bulkOperations(operation, s3),
    ...countOperations(operation, tasks),
    ...deleteTaskOperations(operation, tasks),
    ...transferOperations(operation, tasks),
    ...fixityOperations(operation, tasks),
    ...activeTaskOperations(operation, { tasks: deps.tasks, mapi: prunedBy }),
    ...fixityScheduleOperations(operation, { schedules: deps.schedules ?? null, mapi: management, warn }),
    ...copyOperations(operation, s3),
    ...objectUploadOperations(operation, s3, deps.uploadSizes),
    ...objectOperations(operation, s3, forms),
    ...zipOperations(operation, { ...tasks, now, admit: (context) => enterRole(role, context) }),
    ...presignOperations(operation, s3),
    ...multipartOperations(operation, s3),
    ...credentialsOperations(operation, s3),
  ];
}

/** Whether the gateway's store can be reached, for readiness. */
export function storeCheck({ s3, mapi, backend, sharedKeys }: GatewayDeps): ReadinessCheck {
  return backend === "hcp"
    ? reachability("hcp", () => mapiReachable(mapi))
    : reachability("storage", () => s3Reachable(s3, sharedKeys));
}
