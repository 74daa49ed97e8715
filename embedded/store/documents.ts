import { randomUUID } from "node:crypto";
import type { DocumentScope, NewUser } from "./changes.ts";
import { folded } from "./names.ts";
import type { Statements } from "./statements.ts";

export type Document = Record<string, unknown>;

/** The document with the last position of the application's audit trail; it belongs to no tenant. */
export const AUDIT_END: DocumentScope = { tenant: 0, bucket: 0, kind: "auditEnd" };

/** Members that are records of their own. */
const RECORDS = ["ipSettings", "emailTemplate", "versioningSettings"];

/** A document merged with a change; members that a record in the change leaves out stay, too. */
export function mergedDocument(present: Readonly<Document>, change: Readonly<Document>): Document {
  const merged = { ...present, ...change };
  for (const name of RECORDS) if (name in merged) merged[name] = { ...Object(present[name]), ...Object(change[name]) };
  return merged;
}

/**
 * Reads the documents of the management API as they were set, without defaults. Names are looked up case-insensitively.
 */
export class Documents {
  constructor(private readonly index: Statements) {}

  /** A document; those without a name of their own have the name "". Null where none was set. */
  document({ tenant, bucket, kind }: DocumentScope, name = ""): Document | null {
    const sql = "SELECT document FROM documents WHERE tenant = ? AND bucket = ? AND kind = ? AND folded = ?";
    return JSON.parse(this.index.text(sql, tenant, bucket, kind, folded(name)) ?? "null");
  }

  /** All documents of a kind in the order of their names. */
  documents({ tenant, bucket, kind }: DocumentScope): Document[] {
    const sql = "SELECT document FROM documents WHERE tenant = ? AND bucket = ? AND kind = ? ORDER BY folded";
    return this.index.rows(sql, tenant, bucket, kind).map(([document]) => JSON.parse(String(document)));
  }
}

const TENANT_DEFAULTS = {
  systemVisibleDescription: "",
  tenantVisibleDescription: "",
  hardQuota: "100 GB",
  softQuota: 85,
  namespaceQuota: "None",
  authenticationTypes: { authenticationType: ["LOCAL"] },
  complianceConfigurationEnabled: true,
  versioningConfigurationEnabled: true,
  searchConfigurationEnabled: true,
  replicationConfigurationEnabled: false,
  servicePlan: "Default",
  administrationAllowed: false,
  maxNamespacesPerUser: 100,
  snmpLoggingEnabled: false,
  syslogLoggingEnabled: false,
  tags: { tag: [] },
};

/** The settings of a new tenant: those stated over the defaults. */
export function newTenantRecord(stated: Record<string, unknown>): Record<string, unknown> {
  return { ...TENANT_DEFAULTS, id: randomUUID(), ...stated };
}

/** A new account with these settings over the defaults. */
export function newUser(name: string, passwordMd5: string, stated: Record<string, unknown>): NewUser {
  const record = {
    description: "",
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    roles: { role: [] },
    ...stated,
  };
  return { name, guid: randomUUID(), passwordMd5, record: JSON.stringify(record) };
}

/** Settings of a namespace that neither its creator nor its tenant states (management API, namespaceDefaults). */
export const NAMESPACE_DEFAULTS: Readonly<Record<string, unknown>> = {
  description: "",
  hashScheme: "SHA-256",
  enterpriseMode: true,
  hardQuota: "50 GB",
  softQuota: 85,
  servicePlan: "Default",
  optimizedFor: "CLOUD",
  searchEnabled: false,
  replicationEnabled: false,
  multipartUploadAutoAbortDays: 30,
  s3UnversionedOverwrite: true,
};

/** Settings that a tenant has no defaults for. */
const FURTHER: Readonly<Record<string, unknown>> = { aclsUsage: "ENFORCED", readFromReplica: false, tags: { tag: [] } };

/**
 * The settings of a new namespace of a tenant, and how it retains versions: what its creator states over the tenant's own
 * defaults, over those of the store. `versionSettings` are JSON.
 */
export function newNamespace(
  documents: Documents,
  tenant: number,
  stated: Readonly<Record<string, unknown>> = {},
  statedVersioning: Readonly<Record<string, unknown>> = {},
) {
  const { versioningSettings, ...defaults } = documents.document({ tenant, bucket: 0, kind: "namespaceDefaults" }) ??
    {};
  const { enabled, ...versionSettings } = { ...Object(versioningSettings), ...statedVersioning };
  return {
    record: newNamespaceRecord({ ...defaults, ...stated }),
    versioning: enabled === true ? "enabled" as const : "off" as const,
    versionSettings: JSON.stringify(versionSettings),
  };
}

/** The settings of a new namespace: those stated over the store's defaults. */
export function newNamespaceRecord(stated: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const searchEnabled = stated.searchEnabled ?? NAMESPACE_DEFAULTS.searchEnabled;
  const record: Record<string, unknown> = {
    ...NAMESPACE_DEFAULTS,
    ...FURTHER,
    indexingEnabled: searchEnabled,
    ...stated,
  };
  // DEFAULT means the store's own setting.
  return record.optimizedFor === "DEFAULT" ? { ...record, optimizedFor: NAMESPACE_DEFAULTS.optimizedFor } : record;
}

/**
 * The rules of passwords and logins (management API, consoleSecurity) of a tenant that set none, and of the system level.
 * No account is locked unless an administrator sets a limit: otherwise anyone could lock out all users, administrators
 * included, by sending wrong passwords.
 */
export const CONSOLE_SECURITY_DEFAULTS = {
  /** Characters. */
  minimumPasswordLength: 6,
  /** Whether the four counts below are required. */
  passwordCombination: false,
  lowerCaseLetterCount: 1,
  upperCaseLetterCount: 1,
  numericCharacterCount: 1,
  specialCharacterCount: 1,
  /** Whether a password may hold the user name. */
  passwordContainsUsername: true,
  blockCommonPassword: false,
  /** Whether the newest `passwordReuseDepth` passwords, the present one included, are rejected. */
  blockPasswordReUse: false,
  passwordReuseDepth: 5,
  /** Wrong passwords until an account is locked; 0: never. */
  disableAfterAttempts: 0,
  /** Whether a locked account opens again by itself … */
  automaticUserAccountUnlockSetting: true,
  /** … after so many minutes. The wire spells it without the second n. */
  automaticUserAccoutUnlockDuration: 5,
};

export type ConsoleSecurity = Readonly<typeof CONSOLE_SECURITY_DEFAULTS>;

/** The rules that hold in a tenant. */
export function consoleSecurity(documents: Documents, tenant: number): ConsoleSecurity {
  return { ...CONSOLE_SECURITY_DEFAULTS, ...documents.document({ tenant, bucket: 0, kind: "consoleSecurity" }) };
}
