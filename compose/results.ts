import { Buffer } from "node:buffer";
import { CONVERTER, RESULTS_BUCKET, RESULTS_TENANT } from "@/embedded/store/server/sample_data.ts";
import { type RevocationFile, RevocationFileError, RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { givenSessionKeys, parseSessionKeys, sessionKeyFile, type SessionKeys } from "@/lib/auth/session_token.ts";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import type { Config, ResultsConfig, TextSource } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import type { ResultsStore } from "@/lib/results/file_response.ts";
import { fitsStore, loginKeys } from "@/lib/results/results_login.ts";
import { probedKind } from "@/lib/s3/probes.ts";
import type { SignedSet } from "@/lib/state/signed_set.ts";
import { textIfExists, writeDurably } from "@/lib/std/files.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import type { StoreAddresses } from "@/lib/std/store_addresses.ts";
import type { ResultsDeps } from "@/routes/results/login.ts";
import type { EmbeddedStore } from "./sample_store.ts";
import { type CredentialMemory, type ObserveUpstream, upstream } from "./shared.ts";

/** Until the response headers of the results store, ms. */
const STORE_TIMEOUT_MS = 60_000;

/**
 * The dependencies of the results role. Throws SessionKeyError and DataFolderError.
 *
 * @param shared the revoked sessions of all replicas; null: of this one alone
 */
export function resultsDeps(
  config: Config,
  results: ResultsConfig,
  store: EmbeddedStore | null,
  folder: DataFolder | null,
  memory: CredentialMemory,
  log: RequestLog,
  shared: SignedSet | null,
  observe: ObserveUpstream,
  logins: LoginRecorder | null,
): ResultsDeps {
  return {
    store: resultsStore(config, results, store, folder, observe),
    namespaces: config.campaigns.namespaces,
    keyDerivation: results.keyDerivation,
    loginTenant: results.tenant ?? (store && embeddedResultsTenant(config)),
    sessionKeys: sessionKeys(results.sessionKey, folder),
    sessionHours: results.sessionHours,
    revoked: revokedSessions(folder, log, shared),
    cookieStem: config.campaigns.conventions.cookieStem,
    trustedHops: results.trustedHops,
    ...memory,
    logins,
    log,
    now: Date.now,
  };
}

/** Warns of a derivation that does not fit the store, which would let nobody log in. */
export async function warnOfDerivation(
  { store: { s3, tenant }, keyDerivation }: ResultsDeps,
  warn: (line: string) => void,
): Promise<void> {
  const kind = await probedKind(s3, tenant).catch(() => null);
  if (kind === null || fitsStore(keyDerivation, kind)) return;
  const other = keyDerivation === "hcp" ? "none" : "hcp";
  warn(`RESULTS_KEY_DERIVATION: ${keyDerivation} does not fit the results store, which is ${kind}: set ${other}`);
}

/** The keys of sessions; without a source, the one in the data folder. @throws SessionKeyError */
export function sessionKeys(source: TextSource | null, folder: DataFolder | null): SessionKeys {
  if (source === null) return givenSessionKeys(Buffer.from(folder?.secret("session-key") ?? "", "hex"));
  return "path" in source ? sessionKeyFile(source.path) : givenSessionKeys(...parseSessionKeys(source.text) ?? []);
}

function resultsStore(
  config: Config,
  results: ResultsConfig,
  store: EmbeddedStore | null,
  folder: DataFolder | null,
  observe: ObserveUpstream,
): ResultsStore {
  const s3 = (addresses: Pick<StoreAddresses, "s3">, verifyTls: boolean) => ({
    addresses,
    region: results.region,
    upstream: upstream(config, verifyTls, STORE_TIMEOUT_MS, observe("results_store")),
    now: Date.now,
  });
  if (store) {
    const hasConverter = config.embedded.administrators === null;
    const probeKeys = hasConverter ? loginKeys("hcp", CONVERTER, folder?.secret("converter-password") ?? "") : null;
    return { s3: s3(store.addresses, true), tenant: embeddedResultsTenant(config), bucket: RESULTS_BUCKET, probeKeys };
  }
  const { endpoint, bucket, verifyTls } = results.store ?? { endpoint: "", bucket: "", verifyTls: true };
  const address = { endpoint, publicEndpoint: endpoint };
  const probeKeys = sharedKeys(config, endpoint);
  return { s3: s3({ s3: () => Promise.resolve(address) }, verifyTls), tenant: null, bucket, probeKeys };
}

/** The tenant of the embedded store that holds the results; null where the settings of a store without samples name none. */
export function embeddedResultsTenant({ embedded: { administrators }, results, web }: Config): string | null {
  if (administrators === null) return RESULTS_TENANT;
  return results?.tenant ?? web?.storage?.campaignTenant ?? administrators.tenant?.name ?? null;
}

/** The keys with which the gateway of this process serves all callers, where its store is the one of the results. */
function sharedKeys({ gateway }: Config, endpoint: string): S3Keys | null {
  const store = gateway?.store;
  return store?.identity.kind === "shared" && store.addresses.s3Endpoint === endpoint ? store.identity : null;
}

/** Their file in the data folder. */
export const REVOKED_SESSIONS_FILE = "revoked-sessions.json";

/**
 * Sessions that ended before their time, stored in the data folder; without one they are known until the process ends.
 *
 * @param shared those of all replicas; null: of this one alone
 * @throws {DataFolderError}
 */
export function revokedSessions(
  folder: DataFolder | null,
  log: RequestLog,
  shared: SignedSet | null = null,
): RevokedSessions {
  const sessions = (file: RevocationFile | null) => new RevokedSessions(file, log, Date.now, { shared });
  if (!folder) return sessions(null);
  const path = `${folder.path}/${REVOKED_SESSIONS_FILE}`;
  try {
    return sessions(fileAt(path));
  } catch (error) {
    if (!(error instanceof RevocationFileError)) throw error;
    throw new DataFolderError(
      `The file ${path} ${error.message}: restore it, or delete it and replace the session key (session-key.secret, ` +
        "or what RESULTS_SESSION_KEY_FILE names), which ends all sessions.",
    );
  }
}

function fileAt(path: string): RevocationFile {
  return {
    read() {
      try {
        return textIfExists(path);
      } catch {
        throw new RevocationFileError("cannot be read");
      }
    },
    write: (text) => writeDurably(path, new TextEncoder().encode(text)),
  };
}
