import { z } from "zod";
import { given, MAX_LISTED, returned } from "./fields.ts";
import { ipSettingsFromStore, ipSettingsToStore } from "./ip_settings.ts";
import { className } from "./names.ts";
import { DELETE_DAYS, DESCRIPTION, printable, PRUNE_DAYS, RETENTION, RETENTION_OR_CLASS } from "./store_rules.ts";

export const versioningSettings = z.looseObject({
  enabled: returned.flag("Whether versions are kept"),
  prune: returned.flag("Whether old versions are removed"),
  pruneDays: returned.whole("Days after which they are; 0: at once"),
  useDeleteMarkers: returned.flag("Whether a delete leaves a marker"),
  keepDeletionRecords: returned.flag("Whether records of deleted objects are kept"),
}).meta({ id: "VersioningSettings" });

export const versioningSettingsUpdate = z.looseObject({
  enabled: given.flag("Whether versions are kept"),
  prune: given.flag("Whether old versions are removed"),
  pruneDays: given.whole("Days after which they are; 0: at once", PRUNE_DAYS),
  useDeleteMarkers: given.flag("Whether a delete leaves a marker"),
  keepDeletionRecords: given.flag("Whether records of deleted objects are kept"),
}).meta({ id: "VersioningSettingsUpdate" });

export const complianceSettings = z.looseObject({
  retentionDefault: returned.text("Retention of new objects, such as 0, -1, A+7y or C+class"),
  minimumRetentionAfterInitialUnspecified: returned.text("Shortest retention that may be set later"),
  shreddingDefault: returned.flag("Whether deleted objects are shredded"),
  customMetadataChanges: returned.text("ADD, ALL or NONE"),
  dispositionEnabled: returned.flag("Whether expired objects are removed"),
}).meta({ id: "ComplianceSettings" });

export const complianceSettingsUpdate = z.looseObject({
  retentionDefault: given.text("Retention of new objects, such as 0, -1, A+7y or C+class", RETENTION_OR_CLASS),
  minimumRetentionAfterInitialUnspecified: given.text("Shortest retention that may be set later", RETENTION),
  shreddingDefault: given.flag("Whether deleted objects are shredded"),
  customMetadataChanges: z.enum(["ADD", "ALL", "NONE"]).nullish(),
  dispositionEnabled: given.flag("Whether expired objects are removed"),
}).meta({ id: "ComplianceSettingsUpdate" });

const RETENTION_WORDS = "The retention, such as A+7y";

export const retentionClass = z.looseObject({
  name: returned.text("Its name"),
  value: returned.text(RETENTION_WORDS),
  description: returned.text("What it is for"),
  allowDisposition: returned.flag("Whether expired objects are removed"),
}).meta({ id: "RetentionClass" });

export const retentionClassUpdate = z.looseObject({
  value: given.text(RETENTION_WORDS, RETENTION),
  description: given.text("What it is for", DESCRIPTION),
  allowDisposition: given.flag("Whether expired objects are removed"),
}).meta({ id: "RetentionClassUpdate" });

export const retentionClassCreate = z.looseObject({
  name: className,
  ...retentionClassUpdate.shape,
  value: z.string().meta({ ...RETENTION, description: RETENTION_WORDS }),
}).meta({ id: "RetentionClassCreate", examples: [{ name: "notes", value: "A+7y" }] });

export const customMetadataIndexing = z.looseObject({
  contentClasses: returned.open("Names of content classes"),
  fullIndexingEnabled: returned.flag("Whether the whole text of annotations is indexed"),
  excludedAnnotations: returned.text("Names of annotations that are not, with commas"),
}).meta({ id: "CustomMetadataIndexingSettings" });

const classNames = z.array(z.string()).max(MAX_LISTED);

export const customMetadataIndexingUpdate = z.looseObject({
  contentClasses: z.union([classNames, z.looseObject({ name: classNames })]).nullish().meta({
    description: "Names of content classes",
  }),
  fullIndexingEnabled: given.flag("Whether the whole text of annotations is indexed"),
  excludedAnnotations: given.text("Names of annotations that are not, with commas", printable(1024)),
}).meta({ id: "CustomMetadataIndexingSettingsUpdate" });

export const replicationCollision = z.looseObject({
  action: returned.text("MOVE or RENAME"),
  deleteDays: returned.whole("Days until the loser of a collision is deleted"),
  deleteEnabled: returned.flag("Whether it is deleted"),
}).meta({ id: "ReplicationCollisionSettings" });

export const replicationCollisionUpdate = z.looseObject({
  action: z.enum(["MOVE", "RENAME"]).nullish(),
  deleteDays: given.whole("Days until the loser of a collision is deleted", DELETE_DAYS),
  deleteEnabled: given.flag("Whether it is deleted"),
}).meta({ id: "ReplicationCollisionSettingsUpdate" });

/** A way to reach a namespace: its settings are the store's own, but for the address rules. */
export const protocol = z.looseObject({ ipSettings: ipSettingsFromStore }).meta({ id: "Protocol" });
export const protocolUpdate = z.looseObject({ ipSettings: ipSettingsToStore }).meta({
  id: "ProtocolUpdate",
  examples: [{ hs3Enabled: true, hs3RequiresAuthentication: false }],
});
