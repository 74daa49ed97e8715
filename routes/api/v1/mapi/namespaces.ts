import { z } from "zod";
import { compressibleJson } from "@/lib/http/header_values.ts";
import { invalid } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import { exportNamespaces } from "@/lib/mapi/namespaces.ts";
import { nameList } from "@/lib/mapi/records/fields.ts";
import {
  complianceSettings,
  customMetadataIndexing,
  exportQuery,
  MAX_EXPORTED,
  namespace,
  namespaceCreate,
  namespaceTemplates,
  namespaceUpdate,
  namespaceUpdateQuery,
  protocol,
  replicationCollision,
  retentionClass,
  retentionClassCreate,
  retentionClassUpdate,
  versioningSettings,
} from "@/lib/mapi/records/namespace.ts";
import { permissions } from "@/lib/mapi/records/tenant.ts";
import type { GatewayOperation } from "@/routes/api/v1/operation.ts";
import {
  corsOperations,
  CREATED,
  deletion,
  type Document,
  documentOperations,
  type Family,
  recordKind,
} from "./families.ts";
import { FAILURES, type MapiOperations, parameters, PREFIX } from "./mapi_operations.ts";

const NAMESPACES = recordKind({
  tag: "Namespace: Management",
  nouns: ["namespace", "namespaces"],
  path: "/tenants/{tenant_name}/namespaces",
  parameter: "ns",
  summaries: {
    list: "List a tenant's namespaces",
    get: "Get a namespace",
    delete: "Delete an empty namespace",
  },
});

const TAG = "Namespace: Templates";
const ONE = `${NAMESPACES.record.path}/export`;
const MANY = `${NAMESPACES.list.path}/export`;

/** Namespaces as templates, from which similar ones can be created elsewhere. */
export function namespaceExportOperations(operation: GatewayOperation, mapi: Mapi, now: () => number): Operation[] {
  const responses = { 200: { description: "The templates", schema: namespaceTemplates }, ...FAILURES };
  return [
    operation({
      id: "export_namespaces",
      method: "GET",
      path: PREFIX + MANY,
      tag: TAG,
      summary: "Export several namespaces as templates",
      params: parameters(MANY),
      query: exportQuery,
      responses,
      async handler({ caller, params: { tenant_name: tenant }, query }, { request }) {
        const order = { tenant, names: namesOf(query), nowMs: now() };
        return compressibleJson(request, await exportNamespaces(mapi, caller, order));
      },
    }),
    operation({
      id: "export_namespace",
      method: "GET",
      path: PREFIX + ONE,
      tag: TAG,
      summary: "Export a namespace as a template",
      params: parameters(ONE),
      responses,
      async handler({ caller, params: { tenant_name: tenant, ns } }, { request }) {
        const order = { tenant, names: [ns], nowMs: now() };
        return compressibleJson(request, await exportNamespaces(mapi, caller, order));
      },
    }),
  ];
}

/** The names of a list with commas, each once. Throws 422 when there are too many. */
function namesOf({ names }: z.output<typeof exportQuery>): string[] {
  const all = [...new Set(names.split(",").map((name) => name.trim()).filter((name) => name !== ""))];
  if (all.length <= MAX_EXPORTED) return all;
  throw invalid([{
    type: "too_long",
    loc: ["query", "names"],
    msg: `List should have at most ${MAX_EXPORTED} items after validation, not ${all.length}`,
    ctx: { field_type: "List", max_length: MAX_EXPORTED, actual_length: all.length },
  }]);
}

/** A tenant's namespaces, which S3 shows as buckets. */
export function namespaceOperations({ read, write, exists }: MapiOperations): Operation[] {
  return [
    read({ ...NAMESPACES.list, schema: nameList }),
    write({ ...NAMESPACES.create, audit: "bucket_create", body: namespaceCreate, ...CREATED }),
    read({ ...NAMESPACES.get, schema: namespace }),
    exists(NAMESPACES.head),
    write({ ...NAMESPACES.update, audit: "bucket_settings", query: namespaceUpdateQuery, body: namespaceUpdate }),
    write({ ...NAMESPACES.delete, audit: "bucket_delete" }),
  ];
}

/** A namespace's own documents and reports. */
export const NAMESPACE: Omit<Family, "tag"> = {
  base: NAMESPACES.record.path,
  resource: NAMESPACES.record.resource,
  audit: "bucket_settings",
};

const COMPLIANCE: Family = { tag: "Namespace: Compliance", ...NAMESPACE };
const ACCESS: Family = { tag: "Namespace: Access", ...NAMESPACE };
const INDEXING: Family = { tag: "Namespace: Indexing", ...NAMESPACE };

const CLASSES = recordKind({
  tag: COMPLIANCE.tag,
  nouns: ["retention class", "retention classes"],
  path: `${NAMESPACE.base}/retentionClasses`,
  parameter: "retention_class",
});

const VERSIONING_PATH = "/versioningSettings";

const COMPLIANCE_DOCUMENTS: readonly Document[] = [
  { id: "versioning_settings", path: VERSIONING_PATH, what: "the versioning settings", ...versioningSettings },
  {
    id: "compliance_settings",
    path: "/complianceSettings",
    what: "retention and shredding settings",
    ...complianceSettings,
  },
  {
    id: "replication_collision_settings",
    path: "/replicationCollisionSettings",
    what: "the collision settings of replication",
    ...replicationCollision,
  },
];

const ACCESS_DOCUMENTS: readonly Document[] = [
  {
    id: "namespace_permissions",
    path: "/permissions",
    what: "the permission mask of the namespace",
    audit: "permissions_change",
    ...permissions,
  },
  ...["http", "cifs", "nfs", "smtp"].map((name) => ({
    id: `${name}_protocol`,
    path: `/protocols/${name}`,
    what: `the ${name.toUpperCase()} settings`,
    ...protocol,
  })),
];

const INDEXING_DOCUMENTS: readonly Document[] = [{
  id: "custom_metadata_indexing_settings",
  path: "/customMetadataIndexingSettings",
  what: "the indexing of annotations",
  ...customMetadataIndexing,
}];

/** The sub-documents of a namespace. */
export function namespaceSettingsOperations(operations: MapiOperations): Operation[] {
  const { write } = operations;
  return [
    ...documentOperations(operations, COMPLIANCE, COMPLIANCE_DOCUMENTS),
    write(deletion(
      VERSIONING_PATH,
      "delete_versioning_settings",
      "Reset the versioning settings to those of new namespaces",
      COMPLIANCE,
    )),
    ...retentionClassOperations(operations),
    ...documentOperations(operations, ACCESS, ACCESS_DOCUMENTS),
    ...corsOperations(operations, ACCESS, "namespace"),
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
