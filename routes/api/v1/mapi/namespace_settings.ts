import type { Operation } from "@/lib/http/operation.ts";
import { listQuery, nameList, storeListQuery } from "@/lib/mapi/records/lists.ts";
import {
  complianceSettings,
  complianceSettingsUpdate,
  customMetadataIndexing,
  customMetadataIndexingUpdate,
  protocol,
  protocolUpdate,
  replicationCollision,
  replicationCollisionUpdate,
  retentionClass,
  retentionClassCreate,
  retentionClassUpdate,
  versioningSettings,
  versioningSettingsUpdate,
} from "@/lib/mapi/records/namespace_settings.ts";
import { permissions } from "@/lib/mapi/records/tenant_settings.ts";
import { CREATED, DELETED, NAMESPACE_CORS_SET, UPDATED } from "./answers.ts";
import { corsOperations, type Document, documentOperations, type Family } from "./documents.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const BASE = "/tenants/{tenant_name}/namespaces/{ns}";
const resource: Family["resource"] = ({ ns }) => `namespace '${ns}'`;

const COMPLIANCE: Family = { tag: "Namespace: Compliance", resource };
const ACCESS: Family = { tag: "Namespace: Access", resource };
const INDEXING: Family = { tag: "Namespace: Indexing", resource };

const VERSIONING: Document = {
  id: "versioning_settings",
  path: `${BASE}/versioningSettings`,
  what: "how versions are kept",
  schema: versioningSettings,
  update: versioningSettingsUpdate,
};

const COMPLIANCE_SETTINGS: Document = {
  id: "compliance_settings",
  path: `${BASE}/complianceSettings`,
  what: "retention and shredding",
  schema: complianceSettings,
  update: complianceSettingsUpdate,
};

const COLLISIONS: Document = {
  id: "replication_collision_settings",
  path: `${BASE}/replicationCollisionSettings`,
  what: "what happens to replicas that collide",
  schema: replicationCollision,
  update: replicationCollisionUpdate,
};

const PERMISSIONS: Document = {
  id: "namespace_permissions",
  path: `${BASE}/permissions`,
  what: "the permissions that the namespace allows",
  schema: permissions,
  update: permissions,
};

const PROTOCOLS: readonly Document[] = ["http", "cifs", "nfs", "smtp"].map((name) => ({
  id: `${name}_protocol`,
  path: `${BASE}/protocols/${name}`,
  what: `how the namespace is reached by ${name.toUpperCase()}`,
  schema: protocol,
  update: protocolUpdate,
}));

const INDEXING_SETTINGS: Document = {
  id: "custom_metadata_indexing_settings",
  path: `${BASE}/customMetadataIndexingSettings`,
  what: "how annotations are indexed",
  schema: customMetadataIndexing,
  update: customMetadataIndexingUpdate,
};

/** The sub-documents of a namespace. */
export function namespaceSettingsOperations(operations: MapiOperations): Operation[] {
  const { write } = operations;
  return [
    ...documentOperations(operations, COMPLIANCE, [VERSIONING, COMPLIANCE_SETTINGS, COLLISIONS]),
    write({
      id: "delete_versioning_settings",
      method: "DELETE",
      path: VERSIONING.path,
      tag: COMPLIANCE.tag,
      summary: "Return to the settings of a new namespace",
      resource,
      ...DELETED,
    }),
    ...retentionClassOperations(operations),
    ...documentOperations(operations, ACCESS, [PERMISSIONS, ...PROTOCOLS]),
    ...corsOperations(operations, ACCESS, {
      path: `${BASE}/cors`,
      of: "namespace",
      set: NAMESPACE_CORS_SET,
    }),
    ...documentOperations(operations, INDEXING, [INDEXING_SETTINGS]),
  ];
}

function retentionClassOperations({ read, write, exists }: MapiOperations): Operation[] {
  const { tag } = COMPLIANCE;
  const list = `${BASE}/retentionClasses`;
  const one = `${list}/{retention_class}`;
  const resource: Family["resource"] = ({ retention_class }) => `retention class '${retention_class}'`;
  return [
    read({
      id: "list_retention_classes",
      path: list,
      tag,
      summary: "List retention classes",
      resource: () => "retention classes",
      query: listQuery,
      forward: storeListQuery,
      isList: true,
      schema: nameList,
    }),
    write({
      id: "create_retention_class",
      method: "PUT",
      path: list,
      tag,
      summary: "Create a retention class",
      resource: () => "retention class",
      body: retentionClassCreate,
      ...CREATED,
    }),
    read({ id: "get_retention_class", path: one, tag, summary: "A retention class", resource, schema: retentionClass }),
    exists({ id: "head_retention_class", path: one, tag, summary: "Whether a retention class exists", resource }),
    write({
      id: "update_retention_class",
      method: "POST",
      path: one,
      tag,
      summary: "Change a retention class",
      resource,
      body: retentionClassUpdate,
      ...UPDATED,
    }),
    write({
      id: "delete_retention_class",
      method: "DELETE",
      path: one,
      tag,
      summary: "Delete a retention class",
      resource,
      ...DELETED,
    }),
  ];
}
