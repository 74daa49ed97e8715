import type { MailServer } from "@/lib/operations/notifications/mail.ts";
import { parseWebhookSecrets } from "@/lib/operations/notifications/webhook.ts";
import { campaignsConfig, resultsConfig, webConfig } from "./campaign_settings.ts";
import { gatewayConfig } from "./gateway_settings.ts";
import { type Environment, type Files, Reading } from "./reading.ts";
import { embeddedConfig, redisUrl, serverConfig, warnOfPlainRedis } from "./server_settings.ts";
import { bindAddress, canonicalHost, isLoopback, type TextSource } from "./setting_values.ts";
import { about, environment, type VariableName } from "./variables.ts";

export type { ResultsConfig, StoragePagesConfig, WebConfig } from "./campaign_settings.ts";
export { ConfigError } from "@/lib/std/start_errors.ts";
export type { GatewayConfig } from "./gateway_settings.ts";
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

/** Settings of another store contradict the embedded one, so they end the start. */
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

export type NotificationsConfig = NonNullable<ReturnType<typeof notificationsConfig>>;

const SMTPS_PORT = 465;
const SUBMISSION_PORT = 587;

/** Where notifications are sent; null without a receiver. */
function notificationsConfig(reading: Reading) {
  const { settings } = reading;
  const webhooks = reading.part(() => webhooksConfig(reading));
  const mail = reading.part(() => mailConfig(reading));
  if (webhooks === null && mail === null) {
    if (reading.isSet("NOTIFY_EVENTS")) {
      reading.report(
        "NOTIFY_EVENTS",
        "has no effect: set NOTIFY_WEBHOOK_URL or NOTIFY_SMTP_URL, where events are sent",
      );
    }
    return null;
  }
  return {
    events: settings.NOTIFY_EVENTS,
    /** Null where events are sent to no webhook. */
    webhooks,
    /** Null where no mails are sent. */
    mail,
    /** The server in which replicas share the queue, whatever their roles; null: none. */
    redisUrl: settings.REDIS_URL ?? null,
  };
}

function webhooksConfig(reading: Reading) {
  const { settings: { NOTIFY_WEBHOOK_URL: urls }, files } = reading;
  const secrets = reading.textSource("NOTIFY_WEBHOOK_SECRET_FILE");
  if (urls === undefined) {
    if (secrets === null) return null;
    return reading.refuse("NOTIFY_WEBHOOK_URL", "is required: the secret of webhooks is set; set both or neither");
  }
  if (secrets === null) {
    return reading.refuse(
      "NOTIFY_WEBHOOK_SECRET_FILE",
      'is required: set the path of a file with whsec_ and the output of "openssl rand -base64 32", ' +
        "with which receivers tell our events from forged ones",
    );
  }
  if ("path" in secrets && parseWebhookSecrets(files.read(secrets.path) ?? "") === null) {
    reading.refuse(
      "NOTIFY_WEBHOOK_SECRET_FILE",
      `${JSON.stringify(secrets.path)} must hold one or two secrets, each whsec_ and the base64 of 24 to 64 bytes, ` +
        "and be readable",
    );
  }
  for (const url of urls) {
    const { protocol, hostname } = new URL(url);
    if (protocol === "https:" || isLoopback(hostname)) continue;
    reading.warn("NOTIFY_WEBHOOK_URL", `events for ${hostname} leave this machine without TLS: use https://`);
  }
  return { urls, /** One or two secrets. */ secrets };
}

function mailConfig(reading: Reading) {
  const { settings } = reading;
  const { NOTIFY_SMTP_URL: url, NOTIFY_SMTP_USER: user } = settings;
  const password = reading.textSource("NOTIFY_SMTP_PASSWORD_FILE");
  if (url === undefined) {
    for (const variable of OF_MAIL) {
      if (reading.isSet(variable)) {
        reading.report(variable, "has no effect without NOTIFY_SMTP_URL: set both or neither");
      }
    }
    return null;
  }
  const from = reading.required("NOTIFY_MAIL_FROM", "set the address that mails come from");
  const to = settings.NOTIFY_MAIL_TO ??
    reading.refuse("NOTIFY_MAIL_TO", "is required: set the addresses that mails are sent to");
  if ((user === undefined) !== (password === null)) {
    reading.refuse(
      user === undefined ? "NOTIFY_SMTP_USER" : "NOTIFY_SMTP_PASSWORD_FILE",
      "is required: a login at the mail server has a user and a password; set both or neither",
    );
  }
  if (password !== null && "path" in password && !isPassword(reading.files.read(password.path))) {
    reading.refuse(
      "NOTIFY_SMTP_PASSWORD_FILE",
      `${JSON.stringify(password.path)} must hold the password on one line, and be readable`,
    );
  }
  const { protocol, hostname, port } = new URL(url);
  // The host of an address that is not of the web is not spelled in one way.
  const host = canonicalHost(hostname) ?? hostname;
  const isOwn = isLoopback(host);
  const requiresTls = settings.NOTIFY_SMTP_REQUIRE_TLS ?? !isOwn;
  const isSecure = protocol === "smtps:";
  if (!isSecure && !requiresTls && !isOwn) {
    reading.warn(
      "NOTIFY_SMTP_REQUIRE_TLS",
      "false, mails and the password of the mail server may leave this machine without TLS",
    );
  }
  const security: MailServer["security"] = isSecure ? "tls" : requiresTls ? "starttls" : "optional";
  return {
    server: { host: bindAddress(host), port: Number(port || (isSecure ? SMTPS_PORT : SUBMISSION_PORT)), security },
    /** Null: no login. */
    login: user === undefined || password === null ? null : { user, password },
    from,
    to,
  };
}

function isPassword(text: string | null): boolean {
  const password = text?.trim() ?? "";
  return password !== "" && !/\p{Cc}/u.test(password);
}

/** Settings that say nothing without a mail server. */
const OF_MAIL = [
  "NOTIFY_SMTP_REQUIRE_TLS",
  "NOTIFY_SMTP_USER",
  "NOTIFY_SMTP_PASSWORD_FILE",
  "NOTIFY_MAIL_FROM",
  "NOTIFY_MAIL_TO",
] as const;
