import type { Documents } from "./documents.ts";

/** What a namespace's settings are where neither its creator nor its tenant states them (management API, namespaceDefaults). */
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

/** The settings of a new namespace, and how it retains versions. */
interface NewNamespace {
  readonly record: Record<string, unknown>;
  readonly versioning: "enabled" | "off";
  /** JSON of what was set beside. */
  readonly versionSettings: string;
}

/** A new namespace of a tenant: what its creator states over the tenant's own defaults, over those of the store. */
export function newNamespace(
  documents: Documents,
  tenant: number,
  stated: Readonly<Record<string, unknown>> = {},
  statedVersioning: Readonly<Record<string, unknown>> = {},
): NewNamespace {
  const { versioningSettings, ...defaults } = documents.document({ tenant, bucket: 0, kind: "namespaceDefaults" }) ??
    {};
  const { enabled, ...versionSettings } = { ...Object(versioningSettings), ...statedVersioning };
  return {
    record: newNamespaceRecord({ ...defaults, ...stated }),
    versioning: enabled === true ? "enabled" : "off",
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
  // The default of defaults is what the store does anyway.
  return record.optimizedFor === "DEFAULT" ? { ...record, optimizedFor: NAMESPACE_DEFAULTS.optimizedFor } : record;
}
