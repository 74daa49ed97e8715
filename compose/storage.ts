import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { RESULTS_TENANT } from "@/embedded/store/server/samples.ts";
import type { Config, StoragePagesConfig } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { givenSessionKey, type SessionKey, sessionKeyFile } from "@/lib/results/session_key.ts";
import type { RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import { remoteGateway } from "@/lib/storage/gateway_service.ts";
import type { StorageSettings } from "@/routes/web_deps.ts";
import { tokenSecret } from "./gateway.ts";
import { upstream } from "./shared.ts";

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
): StorageSettings {
  const { gatewayUrl, sessionHours, campaignTenant } = storage;
  return {
    gateway: gatewayUrl === null ? null : remoteGateway(gatewayUrl, upstream(config, true, GATEWAY_TIMEOUT_MS)),
    secret: storageSecret(config, storage, folder),
    revoked,
    sessionHours,
    campaignTenant: campaignTenant ?? (config.embedded.store ? RESULTS_TENANT : null),
  };
}

/**
 * The secret of the storage logins: the session key where there is one, else a digest of the key that signs tokens.
 *
 * @throws SessionKeyError
 */
export function storageSecret(
  { gateway }: Pick<Config, "gateway">,
  { keyFile }: StoragePagesConfig,
  folder: DataFolder | null,
): SessionKey {
  if (keyFile !== null) return sessionKeyFile(keyFile);
  if (folder) return givenSessionKey(Buffer.from(folder.secret("session-key"), "hex"));
  const token = gateway ? tokenSecret(gateway, folder) : new Uint8Array();
  return givenSessionKey(createHash("sha256").update("session key of the storage pages").update(token).digest());
}
