import { campaignsConfig, resultsConfig, webConfig } from "./campaign_settings.ts";
import { gatewayConfig } from "./gateway_settings.ts";
import { notificationsConfig } from "./notification_settings.ts";
import { type Environment, type Files, Reading } from "./reading.ts";
import { embeddedConfig, redisUrl, serverConfig, warnOfPlainRedis } from "./server_settings.ts";
import type { TextSource } from "./setting_values.ts";
import { about, environment, type VariableName } from "./variables.ts";

export type { ResultsConfig, StoragePagesConfig, WebConfig } from "./campaign_settings.ts";
export { ConfigError } from "@/lib/std/start_errors.ts";
export type { GatewayConfig } from "./gateway_settings.ts";
export type { NotificationsConfig } from "./notification_settings.ts";
export type { Files } from "./reading.ts";
export type { TextSource } from "./setting_values.ts";

/** The settings of a process, complete: defaults filled in, rules between variables applied. Holds secrets. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the environment once. What is true of the disk (a folder exists, the pod's namespace) is read through `files`.
 *
 * @throws {ConfigError} that names all variables that end the start.
 */
export function readConfig(env: Environment, files: Files = diskFiles) {
  const reading = new Reading(env, files);
  const { settings, roles } = reading;
  if (reading.embedded.store) reportStoreSettings(reading);
  const config = {
    roles,
    embedded: reading.part(() => embeddedConfig(reading)),
    server: reading.part(() => serverConfig(reading)),
    /** Requests that each role works on at a time. */
    maxRequests: settings.MAX_REQUESTS,
    /** Proxies in front of the gateway and web roles that are ours. */
    trustedHops: settings.TRUSTED_HOPS ?? 0,
    /** Path of the data folder as given: relative to the working folder. */
    dataFolder: settings.DATA_DIR,
    /** The Redis or Valkey server that replicas share, with its password; null: none, or no role that uses it. */
    redisUrl: redisUrl(reading),
    /** Further authorities for all upstreams, in PEM; null: none. */
    ca: reading.part(() => authorities(reading)),
    campaigns: campaignsConfig(reading),
    /** Here and below null means that the process does not play the role. */
    gateway: roles.has("gateway") ? reading.part(() => gatewayConfig(reading)) : null,
    web: roles.has("web") ? reading.part(() => webConfig(reading)) : null,
    results: roles.has("results") ? reading.part(() => resultsConfig(reading)) : null,
    /** Null where none are sent. */
    notifications: reading.part(() => notificationsConfig(reading)),
    audit: auditConfig(reading),
    simulator: { speed: settings.SIMULATOR_SPEED, seed: settings.SIMULATOR_SEED },
    /** Lines for the operator to read at the start; without secrets. */
    warnings: reading.warnings,
  };
  if (config.redisUrl !== null || config.notifications?.redisUrl) warnOfPlainRedis(reading);
  reading.refuseProblems();
  return config;
}

function authorities(reading: Reading): TextSource | null {
  const source = reading.settings.CA_FILE ?? null;
  if (source !== null && "path" in source) reading.certificateFile("CA_FILE", source.path);
  return source;
}

/** Campaigns of the samples write so much that the records of a week would take 200 MB. */
const SAMPLE_RETENTION_DAYS = 1;

/** Where the audit trail is written. */
function auditConfig(reading: Reading) {
  const { settings: { AUDIT_DIR, AUDIT_RETENTION_DAYS, AUDIT_REQUIRED, AUDIT_FILE }, embedded } = reading;
  if (AUDIT_REQUIRED && !embedded.any && AUDIT_DIR === undefined && AUDIT_FILE === undefined) {
    reading.report("AUDIT_REQUIRED", "needs a place for the records: set AUDIT_DIR or AUDIT_FILE");
  }
  return {
    /** The folder of the trail; null: that of the data folder, or none. */
    folder: AUDIT_DIR ?? null,
    /** How long records are retained, days; null: for ever. */
    retentionDays: AUDIT_RETENTION_DAYS ?? (embedded.samples ? SAMPLE_RETENTION_DAYS : null),
    /** Whether changes that cannot be recorded are refused. */
    isRequired: AUDIT_REQUIRED,
    /** A file that records are appended to, or `-` for standard output; null: none. */
    file: AUDIT_FILE ?? null,
  };
}

/** Settings of another store beside the embedded one would be a surprise either way, so they end the start. */
function reportStoreSettings(reading: Reading): void {
  for (const variable of Object.keys(environment.shape) as VariableName[]) {
    if (!about.get(environment.shape[variable])?.store || !reading.isSet(variable)) continue;
    if (variable === "S3_PUBLIC_ENDPOINT_URL" && !reading.embedded.samples) continue;
    reading.report(
      variable,
      "is a setting of your own store, but the embedded store is on: set EMBEDDED=off (or cluster), or unset it",
    );
  }
}

/** The disk as it is. */
export const diskFiles: Files = {
  exists(path) {
    try {
      Deno.statSync(path);
      return true;
    } catch {
      return false;
    }
  },
  read(path) {
    try {
      return Deno.readTextFileSync(path);
    } catch {
      return null;
    }
  },
};
