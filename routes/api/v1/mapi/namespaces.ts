import type { Operation } from "@/lib/http/operation.ts";
import { listQuery, nameList, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { namespace, namespaceCreate, namespaceUpdate, namespaceUpdateQuery } from "@/lib/mapi/records/namespace.ts";
import { CREATED, DELETED, UPDATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const TAG = "Namespace: Management";
const LIST = "/tenants/{tenant_name}/namespaces";
const ONE = `${LIST}/{ns}`;

/** A tenant's namespaces, which S3 shows as buckets. */
export function namespaceOperations({ read, write, exists }: MapiOperations): Operation[] {
  const resource = ({ ns }: Readonly<Record<string, string>>) => `namespace '${ns}'`;
  return [
    read({
      id: "list_namespaces",
      path: LIST,
      tag: TAG,
      summary: "List a tenant's namespaces",
      resource: () => "namespaces",
      query: listQuery,
      forward: storeListQuery,
      isList: true,
      schema: nameList,
    }),
    write({
      id: "create_namespace",
      method: "PUT",
      path: LIST,
      tag: TAG,
      summary: "Create a namespace",
      resource: () => "namespace",
      body: namespaceCreate,
      ...CREATED,
    }),
    read({
      id: "get_namespace",
      path: ONE,
      tag: TAG,
      summary: "A namespace's record",
      resource,
      query: verboseQuery,
      schema: namespace,
    }),
    exists({ id: "head_namespace", path: ONE, tag: TAG, summary: "Whether a namespace exists", resource }),
    write({
      id: "update_namespace",
      method: "POST",
      path: ONE,
      tag: TAG,
      summary: "Change a namespace",
      resource,
      query: namespaceUpdateQuery,
      body: namespaceUpdate,
      ...UPDATED,
    }),
    write({
      id: "delete_namespace",
      method: "DELETE",
      path: ONE,
      tag: TAG,
      summary: "Delete an empty namespace",
      resource,
      ...DELETED,
    }),
  ];
}
