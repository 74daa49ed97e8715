import type { Operation } from "@/lib/http/operation.ts";
import { nameList } from "@/lib/mapi/records/lists.ts";
import {
  complianceSettings,
  customMetadataIndexing,
  protocol,
  replicationCollision,
  retentionClass,
  retentionClassCreate,
  retentionClassUpdate,
  versioningSettings,
} from "@/lib/mapi/records/namespace_settings.ts";
import { permissions } from "@/lib/mapi/records/tenant_settings.ts";
import { CREATED, DELETED, NAMESPACE_CORS_SET } from "./change_results.ts";
import { corsOperations, type Document, documentOperations, type Family } from "./documents.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { recordKind } from "./record_kind.ts";

const BASE = "/tenants/{tenant_name}/namespaces/{ns}";
const NAMESPACE: Omit<Family, "tag"> = {
  base: BASE,
  resource: ({ ns }) => `namespace '${ns}'`,
  audit: "bucket_settings",
};

const COMPLIANCE: Family = { tag: "Namespace: Compliance", ...NAMESPACE };
const ACCESS: Family = { tag: "Namespace: Access", ...NAMESPACE };
const INDEXING: Family = { tag: "Namespace: Indexing", ...NAMESPACE };

const CLASSES = recordKind({
  tag: COMPLIANCE.tag,
  nouns: ["retention class", "retention classes"],
  path: `${BASE}/retentionClasses`,
  parameter: "retention_class",
});

const VERSIONING_PATH = "/versioningSettings";

const COMPLIANCE_DOCUMENTS: readonly Document[] = [
  { id: "versioning_settings", path: VERSIONING_PATH, what: "how versions are stored", ...versioningSettings },
  { id: "compliance_settings", path: "/complianceSettings", what: "retention and shredding", ...complianceSettings },
  {
    id: "replication_collision_settings",
    path: "/replicationCollisionSettings",
    what: "what happens to replicas that collide",
    ...replicationCollision,
  },
];

const ACCESS_DOCUMENTS: readonly Document[] = [
  {
    id: "namespace_permissions",
    path: "/permissions",
    what: "the permissions that the namespace allows",
    audit: "permissions_change",
    ...permissions,
  },
  ...["http", "cifs", "nfs", "smtp"].map((name) => ({
    id: `${name}_protocol`,
    path: `/protocols/${name}`,
    what: `how the namespace is reached by ${name.toUpperCase()}`,
    ...protocol,
  })),
];

const INDEXING_DOCUMENTS: readonly Document[] = [{
  id: "custom_metadata_indexing_settings",
  path: "/customMetadataIndexingSettings",
  what: "how annotations are indexed",
  ...customMetadataIndexing,
}];

/** The sub-documents of a namespace. */
export function namespaceSettingsOperations(operations: MapiOperations): Operation[] {
  const { write } = operations;
  return [
    ...documentOperations(operations, COMPLIANCE, COMPLIANCE_DOCUMENTS),
    write({
      id: "delete_versioning_settings",
      method: "DELETE",
      path: BASE + VERSIONING_PATH,
      tag: COMPLIANCE.tag,
      summary: "Return to the settings of a new namespace",
      resource: COMPLIANCE.resource,
      audit: COMPLIANCE.audit,
      ...DELETED,
    }),
    ...retentionClassOperations(operations),
    ...documentOperations(operations, ACCESS, ACCESS_DOCUMENTS),
    ...corsOperations(operations, ACCESS, "namespace", NAMESPACE_CORS_SET),
    ...documentOperations(operations, INDEXING, INDEXING_DOCUMENTS),
  ];
}

function retentionClassOperations({ read, write, exists }: MapiOperations): Operation[] {
  return [
    read({ ...CLASSES.list, schema: nameList }),
    write({ ...CLASSES.create, audit: COMPLIANCE.audit, body: retentionClassCreate, ...CREATED }),
    read({ ...CLASSES.get, query: undefined, schema: retentionClass }),
    exists(CLASSES.head),
    write({ ...CLASSES.update, audit: COMPLIANCE.audit, body: retentionClassUpdate }),
    write({ ...CLASSES.delete, audit: COMPLIANCE.audit }),
  ];
}
