import type { Reading } from "./reading.ts";

export interface AuditConfig {
  /** The folder of the trail; null: that of the data folder, or none. */
  readonly folder: string | null;
  /** How long records are retained, days; null: for ever. */
  readonly retentionDays: number | null;
  /** Whether changes that cannot be recorded are refused. */
  readonly isRequired: boolean;
  /** A file that records are appended to, or `-` for standard output; null: none. */
  readonly file: string | null;
}

/** Campaigns of the samples write so much that the records of a week would take 200 MB. */
const SAMPLE_RETENTION_DAYS = 1;

/** Where the audit trail is written. */
export function auditConfig(reading: Reading): AuditConfig {
  const { settings: { AUDIT_DIR, AUDIT_RETENTION_DAYS, AUDIT_REQUIRED, AUDIT_FILE }, embedded } = reading;
  const config: AuditConfig = {
    folder: AUDIT_DIR ?? null,
    retentionDays: AUDIT_RETENTION_DAYS ?? (embedded.samples ? SAMPLE_RETENTION_DAYS : null),
    isRequired: AUDIT_REQUIRED,
    file: AUDIT_FILE ?? null,
  };
  const hasPlace = embedded.any || config.folder !== null || config.file !== null;
  if (AUDIT_REQUIRED && !hasPlace) {
    reading.report(
      "AUDIT_REQUIRED",
      "needs a place for the records: set AUDIT_DIR or AUDIT_FILE",
    );
  }
  return config;
}
