/** What a namespace's settings are when its maker does not say (management API, namespace defaults). */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  description: "",
  hashScheme: "SHA-256",
  enterpriseMode: true,
  hardQuota: "50 GB",
  softQuota: 85,
  servicePlan: "Default",
  optimizedFor: "CLOUD",
  aclsUsage: "ENFORCED",
  searchEnabled: false,
  replicationEnabled: false,
  readFromReplica: false,
  multipartUploadAutoAbortDays: 30,
  s3UnversionedOverwrite: true,
  tags: { tag: [] },
};

/** The settings of a new namespace: those given over the defaults. */
export function newNamespaceRecord(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...DEFAULTS, indexingEnabled: given.searchEnabled ?? DEFAULTS.searchEnabled, ...given };
}
