import { bindAddress, canonicalHost, isLoopback } from "./hosts.ts";
import type { Reading } from "./reading.ts";

export interface AuditConfig {
  /** The folder of the trail; null: that of the data folder, or none. */
  readonly folder: string | null;
  /** How long records are retained, days; null: for ever. */
  readonly retentionDays: number | null;
  /** Whether changes that cannot be recorded are refused. */
  readonly isRequired: boolean;
  /** A file that records are appended to; null: none. */
  readonly file: string | null;
  /** Null: none. */
  readonly syslog: SyslogConfig | null;
  /** Null: none. */
  readonly s3: AuditBucketConfig | null;
}

interface SyslogConfig {
  readonly protocol: "udp" | "tcp" | "tls";
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

interface AuditBucketConfig {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  /** Paths of files. */
  readonly accessKey: string;
  readonly secretKey: string;
  /** Null: objects are not locked. */
  readonly lock: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days: number } | null;
}

/** Campaigns of the samples write so much that the records of a week would take 200 MB. */
const SAMPLE_RETENTION_DAYS = 1;

/** The port of each protocol where an address has none (RFC 5426, RFC 6587, RFC 5425). */
const PORTS = { udp: 514, tcp: 601, tls: 6514 } as const;

/** Settings that say nothing without a store. */
const OF_S3 = [
  "AUDIT_S3_BUCKET",
  "AUDIT_S3_PREFIX",
  "AUDIT_S3_REGION",
  "AUDIT_S3_ACCESS_KEY_FILE",
  "AUDIT_S3_SECRET_KEY_FILE",
  "AUDIT_S3_LOCK",
  "AUDIT_S3_LOCK_DAYS",
] as const;

/** Where the audit trail is kept, and where it is sent. */
export function auditConfig(reading: Reading): AuditConfig {
  const { settings: { AUDIT_DIR, AUDIT_RETENTION_DAYS, AUDIT_REQUIRED, AUDIT_FILE }, embedded } = reading;
  const config: AuditConfig = {
    folder: AUDIT_DIR ?? null,
    retentionDays: AUDIT_RETENTION_DAYS ?? (embedded.samples ? SAMPLE_RETENTION_DAYS : null),
    isRequired: AUDIT_REQUIRED,
    file: AUDIT_FILE ?? null,
    syslog: reading.part(() => syslogConfig(reading)),
    s3: reading.part(() => bucketConfig(reading)),
  };
  const hasPlace = embedded.any || config.folder !== null || config.file !== null || config.syslog || config.s3;
  if (AUDIT_REQUIRED && !hasPlace) {
    reading.report(
      "AUDIT_REQUIRED",
      "needs a place for the records: set AUDIT_DIR, AUDIT_FILE, AUDIT_SYSLOG_URL or AUDIT_S3_ENDPOINT",
    );
  }
  return config;
}

function syslogConfig(reading: Reading): SyslogConfig | null {
  const text = reading.settings.AUDIT_SYSLOG_URL;
  if (text === undefined) return null;
  const url = new URL(text);
  const protocol = url.protocol === "udp:" ? "udp" : url.protocol === "tcp:" ? "tcp" : "tls";
  // The host of an address that is not of the web is not spelled in one way.
  const host = canonicalHost(url.hostname) ?? url.hostname;
  if (protocol !== "tls" && !isLoopback(host)) {
    reading.warn(
      "AUDIT_SYSLOG_URL",
      `${protocol}:// leaves this machine without TLS, so records can be read: use tls://`,
    );
  }
  return { protocol, host: bindAddress(host), port: Number(url.port || PORTS[protocol]) };
}

function bucketConfig(reading: Reading): AuditBucketConfig | null {
  const { settings } = reading;
  const { AUDIT_S3_ENDPOINT: endpoint, AUDIT_S3_LOCK: lock, AUDIT_S3_LOCK_DAYS: days } = settings;
  if (endpoint === undefined) {
    for (const variable of OF_S3) {
      if (reading.isSet(variable)) {
        reading.report(variable, "has no effect without AUDIT_S3_ENDPOINT: set both or neither");
      }
    }
    return null;
  }
  const bucket = reading.required("AUDIT_S3_BUCKET", "set the bucket that records are written to");
  const accessKey = reading.existingFile("AUDIT_S3_ACCESS_KEY_FILE") ??
    reading.refuse("AUDIT_S3_ACCESS_KEY_FILE", "is required: set the file with the access key of the audit bucket");
  const secretKey = reading.existingFile("AUDIT_S3_SECRET_KEY_FILE") ??
    reading.refuse("AUDIT_S3_SECRET_KEY_FILE", "is required: set the file with the secret of the access key");
  if ((lock === "off") !== (days === undefined)) {
    reading.refuse("AUDIT_S3_LOCK_DAYS", "goes with AUDIT_S3_LOCK: set both or neither");
  }
  if (endpoint.startsWith("http:") && !isLoopback(new URL(endpoint).hostname)) {
    reading.warn("AUDIT_S3_ENDPOINT", "http:// leaves this machine without TLS, so records can be read: use https://");
  }
  return {
    endpoint,
    bucket,
    prefix: settings.AUDIT_S3_PREFIX,
    region: settings.AUDIT_S3_REGION,
    accessKey,
    secretKey,
    lock: lock === "off" || days === undefined
      ? null
      : { mode: lock === "governance" ? "GOVERNANCE" : "COMPLIANCE", days },
  };
}
