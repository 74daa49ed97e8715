import { z } from "zod";
import { DATA_PERMISSIONS } from "./accounts.ts";
import {
  AUTO_ABORT_DAYS,
  CHECKPOINT,
  className,
  DELETE_DAYS,
  DESCRIPTION,
  given,
  hardQuota,
  ipSettings,
  MAX_LISTED,
  member,
  NAMESPACE_SOFT_QUOTA,
  namespaceName,
  OWNER,
  printable,
  PRUNE_DAYS,
  REPORT_TIME,
  RETENTION,
  RETENTION_OR_CLASS,
  returned,
  SERVICE_PLAN,
  settingsDocument,
  sideOf,
  softQuota,
  tags,
  wrappedList,
} from "./fields.ts";

const permissionSet = wrappedList("permission", z.string().meta({ enum: DATA_PERMISSIONS })).nullish();

/** How objects are spread over folders; the store reads the words in any case. */
export const DIRECTORY_USAGES = ["Balanced", "Unbalanced", "Default"] as const;

const inOurCase = (value: unknown) =>
  DIRECTORY_USAGES.find((usage) => usage.toLowerCase() === String(value).toLowerCase()) ?? value;
const directoryUsage = z.preprocess(inOurCase, z.enum(DIRECTORY_USAGES)).meta({
  type: "string",
  enum: [...DIRECTORY_USAGES],
});

/** Digests that name objects. */
export const HASH_SCHEMES = ["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "RIPEMD-160"] as const;

/** Versioning: a separate document, and part of others. */
export const versioning = {
  enabled: member.flag("Whether versions are stored"),
  prune: member.flag("Whether old versions are removed"),
  pruneDays: member.whole("Days until old versions are removed; 0: at once", PRUNE_DAYS),
  useDeleteMarkers: member.flag("Whether a delete leaves a marker"),
  keepDeletionRecords: member.flag("Whether records of deleted objects are stored"),
};

/** Versioning as a part of a body. */
export const versioningGiven = z.looseObject(sideOf("given", versioning)).nullish();

/** Settings of a namespace that its record shows. */
const SHOWN = {
  description: member.text("Description", DESCRIPTION),
  hardQuota,
  softQuota: softQuota(NAMESPACE_SOFT_QUOTA),
  servicePlan: member.text("Name of the service plan", SERVICE_PLAN),
  owner: member.text("Name of the owner; empty for no owner", OWNER),
  ownerType: member.choice("LOCAL or EXTERNAL", ["LOCAL", "EXTERNAL"]),
  optimizedFor: member.choice("CLOUD or ALL", ["CLOUD", "ALL"]),
  aclsUsage: member.choice("NOT_ENABLED, ENABLED, ENFORCED or NOT_ENFORCED", [
    "NOT_ENABLED",
    "ENABLED",
    "ENFORCED",
    "NOT_ENFORCED",
  ]),
  searchEnabled: member.flag("Whether it can be searched"),
  indexingEnabled: member.flag("Whether objects are indexed"),
  customMetadataIndexingEnabled: member.flag("Whether annotations are indexed"),
  replicationEnabled: member.flag("Whether it is replicated"),
  readFromReplica: member.flag("Whether the replica serves reads"),
  allowErasureCoding: member.flag("Whether objects may be erasure coded"),
  serviceRemoteSystemRequests: member.flag("Whether requests of other systems are served"),
  tags,
};

/** Members of both a namespace's creation and its change. */
const settings = {
  ...sideOf("given", SHOWN),
  multipartUploadAutoAbortDays: given.whole("Days until an unfinished upload is aborted; 0: never", AUTO_ABORT_DAYS),
  retentionType: z.enum(["HCP", "S3"]).nullish(),
  indexingDefault: given.flag("Whether new objects are indexed"),
  customMetadataValidationEnabled: given.flag("Whether annotations must be well-formed XML"),
  appendEnabled: given.flag("Whether objects can be appended to"),
  atimeSynchronizationEnabled: given.flag("Whether changes of the access time change the retention"),
  allowPermissionAndOwnershipChanges: given.flag("Whether permissions of objects under retention can change"),
  authUsersAlwaysGrantedAllPermissions: given.flag("Whether every authenticated user has all permissions"),
  s3UnversionedOverwrite: given.flag("Whether S3 may overwrite objects where versioning is off"),
  authMinimumPermissions: permissionSet,
  authAndAnonymousMinimumPermissions: permissionSet,
};

/** Body of a namespace's creation; members beyond these, such as those of an exported template, are dropped. */
export const namespaceCreate = z.object({
  name: namespaceName.meta({ examples: ["field-notes"] }),
  ...settings,
  hashScheme: z.enum(HASH_SCHEMES).nullish(),
  enterpriseMode: given.flag("Whether privileged deletes are possible"),
  directoryUsage: directoryUsage.nullish().meta({ description: "Distribution of objects over folders" }),
  versioningSettings: versioningGiven,
}).meta({
  id: "NamespaceCreate",
  examples: [{ name: "field-notes", description: "Notes from the field", hardQuota: "50 GB" }],
});

export const namespaceUpdate = z.object({
  name: namespaceName.nullish().meta({ description: "A new name" }),
  ...settings,
}).meta({ id: "NamespaceUpdate", examples: [{ description: "Notes from the field, and maps" }] });

export const namespaceUpdateQuery = z.object({
  resetMQECheckpoint: z.string().min(1).meta({ ...CHECKPOINT }).optional().meta({
    description: "`0`, or a date as mm/dd/yyyy",
  }),
});

/** A namespace as the store returns it; what `verbose` hides is null. */
export const namespace = z.looseObject({
  name: returned.text("Name, which is also the bucket's"),
  ...sideOf("returned", SHOWN),
  hashScheme: returned.text("Digest that names objects"),
  enterpriseMode: returned.flag("Whether privileged deletes are possible"),
  directoryUsage: returned.text("Balanced, Unbalanced or Default"),
  versioningSettings: returned.open("Versioning settings; null if the store does not return them"),
  creationTime: returned.text("When it was created"),
  id: returned.text("Id in the store"),
}).meta({ id: "Namespace" });

/** A namespace as a template: its record without what only the store sets, and its sub-documents. */
export const namespaceTemplates = z.object({
  version: z.literal("1.0"),
  exportedAt: z.string().meta({ description: "ISO 8601, UTC" }),
  sourceTenant: z.string(),
  namespaces: z.array(z.looseObject({ name: z.string() })),
}).meta({ id: "NamespaceTemplates" });

/** Most namespaces in one export. */
export const MAX_EXPORTED = 1000;

export const exportQuery = z.object({
  names: z.string().meta({ description: `Names of at most ${MAX_EXPORTED} namespaces, comma-separated` }),
});

export const versioningSettings = settingsDocument("VersioningSettings", versioning);

export const complianceSettings = settingsDocument("ComplianceSettings", {
  retentionDefault: member.text("Retention of new objects, such as 0, -1, A+7y or C+class", RETENTION_OR_CLASS),
  minimumRetentionAfterInitialUnspecified: member.text("Shortest retention that may be set later", RETENTION),
  shreddingDefault: member.flag("Whether deleted objects are shredded"),
  customMetadataChanges: member.choice("ADD, ALL or NONE", ["ADD", "ALL", "NONE"]),
  dispositionEnabled: member.flag("Whether expired objects are removed"),
});

const RETENTION_WORDS = "The retention, such as A+7y";

const RETENTION_CLASS = {
  value: member.text(RETENTION_WORDS, RETENTION),
  description: member.text("Description", DESCRIPTION),
  allowDisposition: member.flag("Whether expired objects are removed"),
};

export const retentionClass = z.looseObject({
  name: returned.text("Name"),
  ...sideOf("returned", RETENTION_CLASS),
}).meta({ id: "RetentionClass" });

export const retentionClassUpdate = z.looseObject(sideOf("given", RETENTION_CLASS)).meta({
  id: "RetentionClassUpdate",
});

export const retentionClassCreate = z.looseObject({
  name: className,
  ...retentionClassUpdate.shape,
  value: z.string().meta({ ...RETENTION, description: RETENTION_WORDS }),
}).meta({ id: "RetentionClassCreate", examples: [{ name: "notes", value: "A+7y" }] });

const classNames = z.array(z.string()).max(MAX_LISTED);

export const customMetadataIndexing = settingsDocument("CustomMetadataIndexingSettings", {
  contentClasses: {
    returned: returned.open("Names of content classes"),
    given: z.union([classNames, z.looseObject({ name: classNames })]).nullish().meta({
      description: "Names of content classes",
    }),
  },
  fullIndexingEnabled: member.flag("Whether the whole text of annotations is indexed"),
  excludedAnnotations: member.text("Excluded annotations, comma-separated", printable(1024)),
});

export const replicationCollision = settingsDocument("ReplicationCollisionSettings", {
  action: member.choice("MOVE or RENAME", ["MOVE", "RENAME"]),
  deleteDays: member.whole("Days until the loser of a collision is deleted", DELETE_DAYS),
  deleteEnabled: member.flag("Whether the loser of a collision is deleted"),
});

/** A way to reach a namespace: its settings are the store's own, but for the address rules. */
export const protocol = settingsDocument("Protocol", { ipSettings }, {
  examples: [{ hs3Enabled: true, hs3RequiresAuthentication: false }],
});

export const statistics = z.looseObject({
  objectCount: returned.whole("Objects, old versions counted"),
  ingestedVolume: returned.whole("Bytes of objects as written"),
  storageCapacityUsed: returned.whole("Bytes on the disks"),
  customMetadataCount: returned.whole("Annotations"),
  customMetadataSize: returned.whole("Bytes of annotations"),
  shredCount: returned.whole("Objects that wait to be shredded"),
  shredSize: returned.whole("Bytes that wait to be shredded"),
}).meta({ id: "Statistics" });

export const chargebackQuery = z.object({
  start: z.string().meta({ ...REPORT_TIME }).optional().meta({
    description: "ISO 8601",
    examples: ["2026-11-01T00:00:00+0000"],
  }),
  end: z.string().meta({ ...REPORT_TIME }).optional().meta({ description: "ISO 8601" }),
  granularity: z.enum(["hour", "day", "total"]).default("total"),
});

/** One interval; the store's members beyond these are dropped. */
const chargebackEntry = z.object({
  systemName: returned.text("Name of the store"),
  tenantName: returned.text("Name of the tenant"),
  namespaceName: returned.text("Name of the namespace; null in totals of a tenant"),
  startTime: returned.text("Start of the interval"),
  endTime: returned.text("End of the interval"),
  objectCount: returned.whole("Objects at the end of the interval"),
  ingestedVolume: returned.whole("Stored bytes at the end of the interval"),
  storageCapacityUsed: returned.whole("Bytes on the disks at the end of the interval"),
  bytesIn: returned.whole("Bytes written within the interval"),
  bytesOut: returned.whole("Bytes read within the interval"),
  reads: returned.whole("Reads within the interval"),
  writes: returned.whole("Writes within the interval"),
  deletes: returned.whole("Deletes within the interval"),
  multipartObjects: returned.whole("Objects assembled from parts"),
  multipartObjectParts: returned.whole("Parts of these objects"),
  multipartObjectBytes: returned.whole("Bytes of these objects"),
  multipartUploads: returned.whole("Unfinished multipart uploads"),
  multipartUploadParts: returned.whole("Parts of these uploads"),
  multipartUploadBytes: returned.whole("Bytes of these uploads"),
  deleted: z.preprocess((value) => typeof value === "boolean" ? String(value) : value, z.string())
    .meta({ type: "string" }).nullable().default(null).meta({ description: "`false`, or `included`" }),
  valid: returned.flag("Whether the figures are reliable"),
}).meta({ id: "ChargebackEntry" });

export const chargebackReport = z.object({ chargebackData: z.array(chargebackEntry).nullable().default(null) })
  .meta({ id: "ChargebackReport" });
