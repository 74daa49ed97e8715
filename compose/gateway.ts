import { Buffer } from "node:buffer";
import { EMBEDDED_FORMS } from "@/embedded/store/s3/issued_forms.ts";
import type { EmbeddedStore } from "@/embedded/store/server/embedded_store.ts";
import { type Identify, ownKeyIdentities, sharedKeyIdentities, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { parseUsersFile, usersFileCheck } from "@/lib/auth/users_file.ts";
import { type Config, ConfigError, type GatewayConfig } from "@/lib/config/mod.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import { maxTenantRequests } from "@/lib/http/limit_concurrency.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { genericConditions } from "@/lib/s3/condition_probe.ts";
import { CONDITION_TABLES, type ConditionSupport } from "@/lib/s3/condition_table.ts";
import { storeProbe } from "@/lib/s3/probes.ts";
import { rejectsShortBodies } from "@/lib/s3/store_kind.ts";
import { derivedAddresses, type StoreAddresses } from "@/lib/store/addresses.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import type { GatewayDeps } from "@/routes/mod.ts";
import { type FixityParts, fixitySchedules } from "./fixity.ts";
import { type CredentialMemory, type ObserveUpstream, textOf, upstream } from "./shared.ts";
import { taskRunner } from "./tasks.ts";

/** What the gateway role works with. Throws ConfigError. */
export async function gatewayDeps(
  config: Config,
  gateway: GatewayConfig,
  store: EmbeddedStore | null,
  folder: DataFolder | null,
  memory: CredentialMemory,
  tasks: TaskStore,
  log: RequestLog,
  observe: ObserveUpstream,
  fixity: FixityParts,
  recorder: AuditRecorder | null,
): Promise<GatewayDeps> {
  const own = gateway.store;
  const { region } = gateway;
  const timeoutMs = gateway.mapiTimeoutSeconds * 1000;
  const secret = tokenSecret(gateway, folder);
  const addresses = storeAddresses(gateway, store);
  const upstreams = {
    s3: upstream(config, own?.verifyTls.s3 ?? true, timeoutMs, observe("s3")),
    mapi: upstream(config, own?.verifyTls.mapi ?? true, timeoutMs, observe("mapi")),
  };
  const mayTruncate = await detectTruncation(
    gateway,
    { addresses, upstream: upstreams.s3, region, now: Date.now },
    log,
  );
  const plain = { addresses, upstream: upstreams.s3, region, now: Date.now, mayTruncate };
  const conditions = conditionSupport(gateway, store, plain);
  const s3 = { ...plain, conditions };
  const identify = identities(gateway);
  const runner = taskRunner(gateway, { store: tasks, secret, s3, log, fixity, recorder });
  const { report } = fixity;
  return {
    tokenSecret: secret,
    previousTokenSecret: previousTokenSecret(gateway),
    tokenFormat: gateway.tokenFormat,
    tokenLifetimeMinutes: gateway.tokenMinutes,
    identify,
    ...memory,
    addresses,
    conditions,
    upstreams,
    region,
    mayTruncate,
    tasks: runner,
    schedules: await fixitySchedules(gateway, { identify, s3, tasks: runner, log, report }),
    backend: own?.backend ?? "hcp",
    mapiEnabled: gateway.mapiEnabled,
    mapiTimeoutMs: timeoutMs,
    sharedKeys: own?.identity.kind === "shared" ? own.identity : null,
    corsOrigins: gateway.corsOrigins,
    acceptsAllLogins: own?.identity.kind === "shared" && own.identity.users === null,
    issuedForms: store && EMBEDDED_FORMS,
    maxTenantRequests: maxTenantRequests(config.maxRequests),
  };
}

/** The secrets of bearer tokens that are accepted; the first one signs. */
export function tokenSecrets(gateway: GatewayConfig, folder: DataFolder | null): Uint8Array<ArrayBuffer>[] {
  const previous = previousTokenSecret(gateway);
  return [tokenSecret(gateway, folder), ...(previous === null ? [] : [previous])];
}

function previousTokenSecret({ previousTokenKey }: GatewayConfig): Uint8Array<ArrayBuffer> | null {
  return previousTokenKey === null ? null : Buffer.from(previousTokenKey);
}

/** The secret that signs bearer tokens. */
export function tokenSecret({ tokenKey }: GatewayConfig, folder: DataFolder | null): Uint8Array<ArrayBuffer> {
  return Buffer.from(tokenKey ?? folder?.secret("token-key") ?? "");
}

function storeAddresses(gateway: GatewayConfig, store: EmbeddedStore | null): StoreAddresses {
  if (store) return store.addresses;
  if (gateway.store) {
    const { backend, addressingStyle } = gateway.store;
    const addresses = { ...gateway.store.addresses, virtualHosts: addressingStyle === "virtual" };
    const derived = derivedAddresses(addresses);
    // Another S3 store than HCP has one endpoint for all tenants; its domain is that of the management API alone.
    return backend === "hcp" ? derived : { ...derived, s3: derivedAddresses({ ...addresses, domain: null }).s3 };
  }
  throw new ConfigError("EMBEDDED", "no store is known: set the store's addresses, or EMBEDDED=on");
}

function conditionSupport({ store: own }: GatewayConfig, store: EmbeddedStore | null, s3: S3): ConditionSupport {
  if (!store && own && own.backend !== "hcp") return genericConditions(s3);
  const table = store ? CONDITION_TABLES.embedded : CONDITION_TABLES.hcp;
  return () => Promise.resolve(table);
}

/**
 * Tells whether the store may store a body that ends early as an object; undefined for HCP and the embedded store, which
 * reject it.
 *
 * @throws ConfigError for a store that does, and has no uploads in parts
 */
async function detectTruncation({ store }: GatewayConfig, s3: S3, log: RequestLog): Promise<S3["mayTruncate"]> {
  if (!store || store.backend === "hcp" || store.allowsTruncation) return undefined;
  const keys = store.identity.kind === "shared" ? store.identity : null;
  const probe = storeProbe(s3, keys, store.backend === "minio" ? "minio" : "unknown");
  const mayTruncate = (hasDigest: boolean) =>
    probe().then((found) => !found || !rejectsShortBodies(found.kind, hasDigest));
  const found = await probe();
  if (found && await mayTruncate(false)) {
    if (!found.hasParts) {
      throw new ConfigError(
        "S3_ENDPOINT_URL",
        "the store may store an upload that breaks off as an object, and has no uploads in parts: " +
          "use another store, or accept that with S3_ALLOW_TRUNCATED_UPLOADS=true",
      );
    }
    log.write({
      level: "info",
      message: "S3_ENDPOINT_URL: the store may store an upload that breaks off as an object, so uploads go in parts",
    });
  }
  return mayTruncate;
}

function identities({ store, authType }: GatewayConfig): Identify {
  const identity = store?.identity ?? { kind: "derived" };
  if (identity.kind === "derived") return storeIdentities(authType);
  if (identity.kind === "own") return ownKeyIdentities(authType);
  const { users } = identity;
  if (users === null) return sharedKeyIdentities(identity, null, authType);
  try {
    return sharedKeyIdentities(identity, usersFileCheck(parseUsersFile(textOf(users))), authType);
  } catch (error) {
    const variable = "text" in users ? "GATEWAY_USERS" : "GATEWAY_USERS_FILE";
    throw new ConfigError(variable, error instanceof Error ? error.message : "cannot be read");
  }
}
