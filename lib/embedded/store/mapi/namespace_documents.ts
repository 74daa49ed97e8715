import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import { IP_SETTINGS, ipSettings, MASK_MEMBERS, names, retention } from "@/lib/embedded/store/mapi/document_members.ts";
import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import type { MapiRequest } from "@/lib/embedded/store/mapi/mapi_request.ts";
import { boolean, integer, type Members, oneOf, text } from "@/lib/embedded/store/mapi/members.ts";
import type { SettingsDocument } from "@/lib/embedded/store/mapi/settings_document.ts";
import { MASK_NAMES } from "@/lib/embedded/store/permission_masks.ts";

/** Largest number of a user or group of NFS. */
const MAX_NFS_ID = 4_294_967_295;

/** Most days until the loser of a collision is deleted. */
const MAX_DELETE_DAYS = 36_500;

/** The settings documents of a namespace, without versioningSettings, which the bucket itself keeps. */
export const NAMESPACE_DOCUMENTS: readonly SettingsDocument[] = [
  {
    kind: "complianceSettings",
    members: {
      retentionDefault: retention(true),
      minimumRetentionAfterInitialUnspecified: retention(false),
      shreddingDefault: boolean,
      customMetadataChanges: oneOf("ADD", "ALL", "NONE"),
      dispositionEnabled: boolean,
    },
    defaults: {
      retentionDefault: "0",
      minimumRetentionAfterInitialUnspecified: "0",
      shreddingDefault: false,
      customMetadataChanges: "ALL",
      dispositionEnabled: false,
    },
    read: "read",
    write: "comply",
  },
  {
    kind: "permissions",
    members: MASK_MEMBERS,
    defaults: { permission: MASK_NAMES },
    read: "read",
    write: "administer",
  },
  {
    kind: "customMetadataIndexingSettings",
    members: { contentClasses: names, fullIndexingEnabled: boolean, excludedAnnotations: text(1024) },
    defaults: { contentClasses: [], fullIndexingEnabled: false, excludedAnnotations: "" },
    read: "read",
    write: "administer",
    check: demandContentClasses,
  },
  {
    kind: "replicationCollisionSettings",
    members: { action: oneOf("MOVE", "RENAME"), deleteDays: integer(0, MAX_DELETE_DAYS), deleteEnabled: boolean },
    defaults: { action: "MOVE", deleteDays: 0, deleteEnabled: false },
    read: "read",
    write: "administer",
  },
  // Without webdavBasicAuthPassword: there is no WebDAV, and what nobody uses need not be kept.
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
function protocol(name: string, settings: Readonly<Record<string, [Members[string], unknown]>>): SettingsDocument {
  const entries = Object.entries(settings);
  return {
    kind: `protocols/${name}`,
    members: { ...Object.fromEntries(entries.map(([name, [member]]) => [name, member])), ipSettings },
    defaults: { ...Object.fromEntries(entries.map(([name, [, value]]) => [name, value])), ipSettings: IP_SETTINGS },
    read: "read",
    write: "administer",
  };
}

function demandContentClasses(
  { contentClasses }: Readonly<Record<string, unknown>>,
  tenant: Tenant,
  { store }: MapiRequest,
) {
  if (!Array.isArray(contentClasses)) return;
  for (const name of contentClasses) {
    if (!store.documents.document({ tenant: tenant.id, bucket: 0, kind: "contentClasses" }, String(name))) {
      throw invalid("contentClasses", "may name only content classes of the tenant");
    }
  }
}
