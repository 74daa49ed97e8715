import { createHash } from "node:crypto";
import type { Config, StoragePagesConfig } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { givenSessionKeys, type SessionKeys } from "@/lib/results/session_key.ts";
import type { RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import { remoteGateway } from "@/lib/storage/gateway_service.ts";
import type { StorageSettings } from "@/routes/web_deps.ts";
import { tokenSecrets } from "./gateway.ts";
import { embeddedResultsTenant, sessionKeys } from "./results.ts";
import { type ObserveUpstream, upstream } from "./shared.ts";

/** Until the response headers of the gateway, ms: it may itself wait a minute for the store. */
const GATEWAY_TIMEOUT_MS = 90_000;

/**
 * What the storage pages work with. Throws SessionKeyError.
 *
 * @param revoked logins that ended before their time: among the revoked sessions of the results role, where there is one
 */
export function storageSettings(
  config: Config,
  storage: StoragePagesConfig,
  folder: DataFolder | null,
  revoked: RevokedSessions,
  observe: ObserveUpstream,
): StorageSettings {
  const { gatewayUrl, sessionHours, campaignTenant } = storage;
  return {
    gateway: gatewayUrl === null ? null : remoteGateway(
      gatewayUrl,
      upstream(config, true, GATEWAY_TIMEOUT_MS, observe("gateway")),
      config.trustedHops,
    ),
    secrets: storageSecrets(config, storage, folder),
    revoked,
    sessionHours,
    campaignTenant: campaignTenant ?? (config.embedded.store ? embeddedResultsTenant(config) : null),
  };
}

/**
 * The secrets of the storage logins: the session keys where there are any, else digests of the keys of tokens.
 *
 * @throws SessionKeyError
 */
export function storageSecrets(
  { gateway }: Pick<Config, "gateway">,
  { sessionKey }: StoragePagesConfig,
  folder: DataFolder | null,
): SessionKeys {
  if (sessionKey !== null || folder) return sessionKeys(sessionKey, folder);
  const secrets = gateway ? tokenSecrets(gateway, folder) : [];
  return givenSessionKeys(
    ...secrets.map((secret) => createHash("sha256").update("session key of the storage pages").update(secret).digest()),
  );
}
