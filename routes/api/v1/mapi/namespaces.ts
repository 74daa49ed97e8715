import type { Operation } from "@/lib/http/operation.ts";
import { nameList } from "@/lib/mapi/records/lists.ts";
import { namespace, namespaceCreate, namespaceUpdate, namespaceUpdateQuery } from "@/lib/mapi/records/namespace.ts";
import { CREATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { recordKind } from "./record_kind.ts";

const NAMESPACES = recordKind({
  tag: "Namespace: Management",
  nouns: ["namespace", "namespaces"],
  path: "/tenants/{tenant_name}/namespaces",
  parameter: "ns",
  summaries: {
    list: "List a tenant's namespaces",
    get: "A namespace's record",
    delete: "Delete an empty namespace",
  },
});

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
