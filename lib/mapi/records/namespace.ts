import { z } from "zod";
import { DATA_PERMISSIONS } from "./accounts.ts";
import {
  given,
  HARD_QUOTA,
  hardQuota,
  member,
  namespaceName,
  namespaceSoftQuota,
  returned,
  sideOf,
  SOFT_QUOTA,
  tags,
  wrappedList,
} from "./fields.ts";
import { AUTO_ABORT_DAYS, CHECKPOINT, DESCRIPTION, OWNER, PRUNE_DAYS, SERVICE_PLAN } from "./store_rules.ts";

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

/** Versioning, which is a document of its own, and part of others. */
export const versioning = {
  enabled: member.flag("Whether versions are stored"),
  prune: member.flag("Whether old versions are removed"),
  pruneDays: member.whole("Days after which they are; 0: at once", PRUNE_DAYS),
  useDeleteMarkers: member.flag("Whether a delete leaves a marker"),
  keepDeletionRecords: member.flag("Whether records of deleted objects are stored"),
};

/** Versioning as a part of a body. */
export const versioningGiven = z.looseObject(sideOf("given", versioning)).nullish();

/** What a namespace's creation and its change have in common. */
const settings = {
  description: given.text("What it is for", DESCRIPTION),
  hardQuota,
  softQuota: namespaceSoftQuota,
  servicePlan: given.text("Name of the service plan", SERVICE_PLAN),
  owner: given.text("Name of the user who owns it; empty: no user", OWNER),
  ownerType: z.enum(["LOCAL", "EXTERNAL"]).nullish(),
  multipartUploadAutoAbortDays: given.whole("Days until an unfinished upload is given up; 0: never", AUTO_ABORT_DAYS),
  optimizedFor: z.enum(["CLOUD", "ALL"]).nullish(),
  aclsUsage: z.enum(["NOT_ENABLED", "ENABLED", "ENFORCED", "NOT_ENFORCED"]).nullish(),
  retentionType: z.enum(["HCP", "S3"]).nullish(),
  searchEnabled: given.flag("Whether it can be searched"),
  indexingEnabled: given.flag("Whether objects are indexed"),
  indexingDefault: given.flag("Whether new objects are indexed"),
  customMetadataIndexingEnabled: given.flag("Whether annotations are indexed"),
  customMetadataValidationEnabled: given.flag("Whether annotations must be well-formed XML"),
  replicationEnabled: given.flag("Whether it is replicated"),
  readFromReplica: given.flag("Whether the replica serves reads"),
  allowErasureCoding: given.flag("Whether objects may be erasure coded"),
  serviceRemoteSystemRequests: given.flag("Whether other systems' requests are served"),
  appendEnabled: given.flag("Whether objects can be appended to"),
  atimeSynchronizationEnabled: given.flag("Whether access times set retention"),
  allowPermissionAndOwnershipChanges: given.flag("Whether permissions of objects under retention can change"),
  authUsersAlwaysGrantedAllPermissions: given.flag("Whether every known user may do everything"),
  s3UnversionedOverwrite: given.flag("Whether S3 writes over objects without versions"),
  authMinimumPermissions: permissionSet,
  authAndAnonymousMinimumPermissions: permissionSet,
  tags,
};

/** Body of a namespace's creation; members beyond these, such as those of an exported template, are dropped. */
export const namespaceCreate = z.object({
  name: namespaceName.meta({ examples: ["field-notes"] }),
  ...settings,
  hashScheme: z.enum(HASH_SCHEMES).nullish(),
  enterpriseMode: given.flag("Whether privileged deletes are possible"),
  directoryUsage: directoryUsage.nullish().meta({ description: "How objects are spread over folders" }),
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
  name: returned.text("Its name, which is the bucket's"),
  description: returned.text("What it is for"),
  hashScheme: returned.text("Digest that names objects"),
  enterpriseMode: returned.flag("Whether privileged deletes are possible"),
  hardQuota: returned.text(HARD_QUOTA),
  softQuota: returned.whole(SOFT_QUOTA),
  servicePlan: returned.text("Name of the service plan"),
  optimizedFor: returned.text("CLOUD or ALL"),
  directoryUsage: returned.text("Balanced, Unbalanced or Default"),
  aclsUsage: returned.text("NOT_ENABLED, ENABLED, ENFORCED or NOT_ENFORCED"),
  owner: returned.text("Name of the user who owns it"),
  ownerType: returned.text("LOCAL or EXTERNAL"),
  searchEnabled: returned.flag("Whether it can be searched"),
  indexingEnabled: returned.flag("Whether objects are indexed"),
  customMetadataIndexingEnabled: returned.flag("Whether annotations are indexed"),
  replicationEnabled: returned.flag("Whether it is replicated"),
  readFromReplica: returned.flag("Whether the replica serves reads"),
  allowErasureCoding: returned.flag("Whether objects may be erasure coded"),
  serviceRemoteSystemRequests: returned.flag("Whether other systems' requests are served"),
  versioningSettings: returned.open("Only where the store puts it into the record"),
  tags: returned.open("`{tag: […]}`"),
  creationTime: returned.text("When it was created"),
  id: returned.text("The store's own id"),
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
  names: z.string().meta({ description: `Names of at most ${MAX_EXPORTED} namespaces, with commas` }),
});
