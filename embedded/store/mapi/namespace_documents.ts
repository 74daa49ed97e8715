import type { z } from "zod";
import type { Document } from "@/embedded/store/documents.ts";
import { boolean, integer, members, names, oneOf, text } from "./body_schema.ts";
import { IP_SETTINGS, ipSettings } from "./ip_settings.ts";
import { conflicting } from "./mapi_error.ts";
import type { TenantRequest } from "./mapi_request.ts";
import { retention } from "./classes.ts";
import { permissionsDocument, type SettingsDocument } from "./settings_document.ts";

/** Largest number of a user or group of NFS. */
const MAX_NFS_ID = 4_294_967_295;

/** Most days until the loser of a collision is deleted. */
const MAX_DELETE_DAYS = 36_500;

/** The settings documents of a namespace, without versioningSettings, which are columns of the bucket. */
export const NAMESPACE_DOCUMENTS: readonly SettingsDocument[] = [
  {
    kind: "complianceSettings",
    schema: members({
      retentionDefault: retention(true),
      minimumRetentionAfterInitialUnspecified: retention(false),
      shreddingDefault: boolean,
      customMetadataChanges: oneOf("ADD", "ALL", "NONE"),
      dispositionEnabled: boolean,
    }),
    defaults: {
      retentionDefault: "0",
      minimumRetentionAfterInitialUnspecified: "0",
      shreddingDefault: false,
      customMetadataChanges: "ALL",
      dispositionEnabled: false,
    },
    write: "comply",
  },
  permissionsDocument,
  {
    kind: "customMetadataIndexingSettings",
    schema: members({ contentClasses: names, fullIndexingEnabled: boolean, excludedAnnotations: text(1024) }),
    defaults: { contentClasses: [], fullIndexingEnabled: false, excludedAnnotations: "" },
    check: requireContentClasses,
  },
  {
    kind: "replicationCollisionSettings",
    schema: members({
      action: oneOf("MOVE", "RENAME"),
      deleteDays: integer(0, MAX_DELETE_DAYS),
      deleteEnabled: boolean,
    }),
    defaults: { action: "MOVE", deleteDays: 0, deleteEnabled: false },
  },
  // Without webdavBasicAuthPassword: there is no WebDAV, and what is not used need not be stored.
  protocol("http", {
    httpsEnabled: [boolean, true],
    httpEnabled: [boolean, true],
    restEnabled: [boolean, true],
    restRequiresAuthentication: [boolean, true],
    hs3Enabled: [boolean, true],
    hs3RequiresAuthentication: [boolean, false],
    httpActiveDirectorySSOEnabled: [boolean, false],
    webdavEnabled: [boolean, false],
    webdavBasicAuthEnabled: [boolean, false],
    webdavBasicAuthUsername: [text(64), ""],
    webdavCustomMetadata: [boolean, false],
  }),
  protocol("cifs", {
    enabled: [boolean, false],
    caseForcing: [oneOf("UPPER", "LOWER", "DISABLED"), "DISABLED"],
    caseSensitive: [boolean, true],
    requiresAuthentication: [boolean, true],
  }),
  protocol("nfs", {
    enabled: [boolean, false],
    uid: [integer(0, MAX_NFS_ID), 0],
    gid: [integer(0, MAX_NFS_ID), 0],
  }),
  protocol("smtp", {
    enabled: [boolean, false],
    emailFormat: [oneOf(".eml", ".mbox"), ".eml"],
    emailLocation: [text(1024), "/email/"],
    separateAttachments: [boolean, false],
  }),
];

/** A way to reach a namespace: its members with their defaults, and the address rules. */
function protocol(name: string, settings: Readonly<Record<string, readonly [z.ZodType, unknown]>>): SettingsDocument {
  const entries = Object.entries(settings);
  return {
    kind: `protocols/${name}`,
    schema: members({ ...Object.fromEntries(entries.map(([name, [schema]]) => [name, schema])), ipSettings }),
    defaults: { ...Object.fromEntries(entries.map(([name, [, value]]) => [name, value])), ipSettings: IP_SETTINGS },
  };
}

function requireContentClasses({ contentClasses }: Readonly<Document>, { store, tenant }: TenantRequest) {
  if (!Array.isArray(contentClasses)) return;
  for (const name of contentClasses) {
    if (!store.documents.document({ tenant: tenant.id, bucket: 0, kind: "contentClasses" }, String(name))) {
      throw conflicting("contentClasses", "may name only content classes of the tenant");
    }
  }
}
