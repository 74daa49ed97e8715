import { Buffer } from "node:buffer";
import { EMBEDDED_FORMS } from "@/embedded/store/names.ts";
import { type Identify, ownKeyIdentities, sharedKeyIdentities, storeIdentities } from "@/lib/auth/store_credentials.ts";
import { parseUsersFile, usersFileCheck } from "@/lib/auth/users_file.ts";
import { type Config, ConfigError, type GatewayConfig } from "@/lib/config/mod.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import { maxTenantRequests } from "@/lib/http/request_context.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { genericConditions, storeProbe } from "@/lib/s3/probes.ts";
import { CONDITION_TABLES, type ConditionSupport, rejectsShortBodies } from "@/lib/s3/store_kind.ts";
import { derivedAddresses, type StoreAddresses } from "@/lib/std/store_addresses.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import type { GatewayDeps } from "@/routes/gateway.ts";
import type { EmbeddedStore } from "./sample_store.ts";
import { type CredentialMemory, type ObserveUpstream, textOf, upstream } from "./shared.ts";
import { type FixityParts, fixitySchedules, taskRunner } from "./tasks.ts";

/** The parts of the gateway role. Here and below null: this process does not have it. */
interface GatewayParts {
  readonly config: Config;
  readonly store: EmbeddedStore | null;
  readonly folder: DataFolder | null;
  readonly memory: CredentialMemory;
  readonly tasks: TaskStore;
  readonly log: RequestLog;
  readonly observe: ObserveUpstream;
  readonly fixity: FixityParts;
  readonly recorder: AuditRecorder | null;
}

/** The dependencies of the gateway role. Throws ConfigError. */
export async function gatewayDeps(gateway: GatewayConfig, parts: GatewayParts): Promise<GatewayDeps> {
  const { config, store, folder, memory, log, observe, fixity, recorder } = parts;
  const own = gateway.store;
  const timeoutMs = gateway.mapiTimeoutSeconds * 1000;
  const secrets = tokenSecrets(gateway, folder);
  const addresses = storeAddresses(gateway, store);
  const client = (protocol: "s3" | "mapi") =>
    upstream(config, own?.verifyTls[protocol] ?? true, timeoutMs, observe(protocol));
  const bare: S3 = { addresses, upstream: client("s3"), region: gateway.region, now: Date.now };
  const plain: S3 = { ...bare, mayTruncate: await detectTruncation(gateway, bare, log) };
  const s3: S3 = { ...plain, conditions: conditionSupport(gateway, store, plain) };
  const identify = identities(gateway);
  const tasks = taskRunner(gateway, { store: parts.tasks, secret: secrets[0], s3, log, fixity, recorder });
  const { report } = fixity;
  return {
    tokenSecrets: secrets,
    tokenFormat: gateway.tokenFormat,
    tokenLifetimeMinutes: gateway.tokenMinutes,
    identify,
    ...memory,
    s3,
    mapi: { addresses, upstream: client("mapi"), timeoutMs },
    tasks,
    schedules: await fixitySchedules(gateway, { identify, s3, tasks, log, report }),
    backend: own?.backend ?? "hcp",
    mapiEnabled: gateway.mapiEnabled,
    sharedKeys: own?.identity.kind === "shared" ? own.identity : null,
    corsOrigins: gateway.corsOrigins,
    acceptsAllLogins: own?.identity.kind === "shared" && own.identity.users === null,
    issuedForms: store && EMBEDDED_FORMS,
    maxTenantRequests: maxTenantRequests(config.maxRequests),
  };
}

/** The secrets of bearer tokens that are accepted; the first one signs. */
export function tokenSecrets(
  { tokenKey, previousTokenKey }: GatewayConfig,
  folder: DataFolder | null,
): Uint8Array<ArrayBuffer>[] {
  const keys = [
    tokenKey ?? folder?.secret("token-key") ?? "",
    ...(previousTokenKey === null ? [] : [previousTokenKey]),
  ];
  return keys.map((key) => Buffer.from(key));
}

function storeAddresses(gateway: GatewayConfig, store: EmbeddedStore | null): StoreAddresses {
  if (store) return store.addresses;
  if (gateway.store) {
    const { backend, addresses } = gateway.store;
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
