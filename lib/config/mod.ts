import {
  type CampaignsConfig,
  campaignsConfig,
  type ResultsConfig,
  resultsConfig,
  type WebConfig,
  webConfig,
} from "./campaigns.ts";
import { type AuditConfig, auditConfig } from "./audit.ts";
import { type GatewayConfig, gatewayConfig } from "./gateway.ts";
import { type NotificationsConfig, notificationsConfig } from "./notifications.ts";
import { type Environment, readSettings } from "./read_settings.ts";
import { type Files, Reading } from "./reading.ts";
import { type EmbeddedConfig, embeddedConfig, redisUrl, type ServerConfig, serverConfig } from "./server.ts";
import type { TextSource } from "./values.ts";
import { about, environment, type Role, type VariableName } from "./variables.ts";

export type { ResultsConfig, SessionKeySource, StoragePagesConfig, WebConfig } from "./campaigns.ts";
export { ConfigError } from "@/lib/std/config_error.ts";
export type { AuditConfig } from "./audit.ts";
export type { GatewayConfig } from "./gateway.ts";
export type { NotificationsConfig } from "./notifications.ts";
export type { Files } from "./reading.ts";
export type { TextSource } from "./values.ts";

/** The settings of a process, complete: defaults filled in, rules between variables applied. Holds secrets. */
export interface Config {
  readonly roles: ReadonlySet<Role>;
  readonly server: ServerConfig;
  readonly embedded: EmbeddedConfig;
  /** Requests that each role works on at a time. */
  readonly maxRequests: number;
  /** Proxies in front of the gateway and web roles that are ours. */
  readonly trustedHops: number;
  /** Path of the data folder as given: relative to the working folder. */
  readonly dataFolder: string;
  /** The Redis or Valkey server that replicas share, with its password; null: none, or no role that uses it. */
  readonly redisUrl: string | null;
  /** Further authorities for all upstreams, in PEM; null: none. */
  readonly ca: TextSource | null;
  readonly campaigns: CampaignsConfig;
  /** Here and below null means that the process does not play the role. */
  readonly gateway: GatewayConfig | null;
  readonly web: WebConfig | null;
  readonly results: ResultsConfig | null;
  /** Null where none are sent. */
  readonly notifications: NotificationsConfig | null;
  readonly audit: AuditConfig;
  readonly simulator: { readonly speed: number; readonly seed: number };
  /** Lines for the operator to read at the start; without secrets. */
  readonly warnings: readonly string[];
}

/**
 * Reads the environment once. What is true of the disk (a folder exists, the pod's namespace) is read through `files`.
 *
 * @throws {ConfigError} that names all variables that end the start.
 */
export function readConfig(env: Environment, files: Files = diskFiles): Config {
  const reading = new Reading(readSettings(env), files, env.HOME || env.USERPROFILE || null);
  const { settings, roles } = reading;
  if (reading.embedded.store) reportStoreSettings(reading);
  const config: Config = {
    roles,
    embedded: reading.part(() => embeddedConfig(reading)),
    server: reading.part(() => serverConfig(reading)),
    maxRequests: settings.MAX_REQUESTS,
    trustedHops: settings.TRUSTED_HOPS ?? 0,
    dataFolder: settings.DATA_DIR,
    redisUrl: redisUrl(reading),
    ca: reading.part(() => authorities(reading)),
    campaigns: campaignsConfig(reading),
    gateway: roles.has("gateway") ? reading.part(() => gatewayConfig(reading)) : null,
    web: roles.has("web") ? reading.part(() => webConfig(reading)) : null,
    results: roles.has("results") ? reading.part(() => resultsConfig(reading)) : null,
    notifications: reading.part(() => notificationsConfig(reading)),
    audit: reading.part(() => auditConfig(reading)),
    simulator: { speed: settings.SIMULATOR_SPEED, seed: settings.SIMULATOR_SEED },
    warnings: reading.warnings,
  };
  reading.refuseProblems();
  return config;
}

function authorities(reading: Reading): TextSource | null {
  const source = reading.settings.CA_FILE ?? null;
  if (source !== null && "path" in source) reading.certificateFile("CA_FILE", source.path);
  return source;
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
