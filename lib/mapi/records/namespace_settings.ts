import { z } from "zod";
import { className, given, MAX_LISTED, member, returned, settingsDocument } from "./fields.ts";
import { ipSettings } from "./ip_settings.ts";
import { versioning } from "./namespace.ts";
import { DELETE_DAYS, DESCRIPTION, printable, RETENTION, RETENTION_OR_CLASS } from "./store_rules.ts";

export const versioningSettings = settingsDocument("VersioningSettings", versioning);

export const complianceSettings = settingsDocument("ComplianceSettings", {
  retentionDefault: member.text("Retention of new objects, such as 0, -1, A+7y or C+class", RETENTION_OR_CLASS),
  minimumRetentionAfterInitialUnspecified: member.text("Shortest retention that may be set later", RETENTION),
  shreddingDefault: member.flag("Whether deleted objects are shredded"),
  customMetadataChanges: {
    returned: returned.text("ADD, ALL or NONE"),
    given: z.enum(["ADD", "ALL", "NONE"]).nullish(),
  },
  dispositionEnabled: member.flag("Whether expired objects are removed"),
});

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

const classNames = z.array(z.string()).max(MAX_LISTED);

export const customMetadataIndexing = settingsDocument("CustomMetadataIndexingSettings", {
  contentClasses: {
    returned: returned.open("Names of content classes"),
    given: z.union([classNames, z.looseObject({ name: classNames })]).nullish().meta({
      description: "Names of content classes",
    }),
  },
  fullIndexingEnabled: member.flag("Whether the whole text of annotations is indexed"),
  excludedAnnotations: member.text("Names of annotations that are not, with commas", printable(1024)),
});

export const replicationCollision = settingsDocument("ReplicationCollisionSettings", {
  action: { returned: returned.text("MOVE or RENAME"), given: z.enum(["MOVE", "RENAME"]).nullish() },
  deleteDays: member.whole("Days until the loser of a collision is deleted", DELETE_DAYS),
  deleteEnabled: member.flag("Whether it is deleted"),
});

/** A way to reach a namespace: its settings are the store's own, but for the address rules. */
export const protocol = settingsDocument("Protocol", { ipSettings }, {
  examples: [{ hs3Enabled: true, hs3RequiresAuthentication: false }],
});
