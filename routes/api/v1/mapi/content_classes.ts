import type { Operation } from "@/lib/http/operation.ts";
import { contentClass, contentClassCreate, contentClassUpdate } from "@/lib/mapi/records/content_class.ts";
import { listQuery, nameList, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { CREATED, DELETED, UPDATED } from "./answers.ts";
import type { MapiOperations } from "./mapi_operations.ts";

const TAG = "Tenant Admin: Content Classes";
const LIST = "/tenants/{tenant_name}/contentClasses";
const ONE = `${LIST}/{name}`;

/** Content classes: which properties annotations have, and in which namespaces. */
export function contentClassOperations({ read, write, exists }: MapiOperations): Operation[] {
  const resource = ({ name }: Readonly<Record<string, string>>) => `content class '${name}'`;
  return [
    read({
      id: "list_content_classes",
      path: LIST,
      tag: TAG,
      summary: "List content classes",
      resource: () => "content classes",
      query: listQuery,
      forward: storeListQuery,
      isList: true,
      schema: nameList,
    }),
    write({
      id: "create_content_class",
      method: "PUT",
      path: LIST,
      tag: TAG,
      summary: "Create a content class",
      resource: () => "content class",
      body: contentClassCreate,
      ...CREATED,
    }),
    read({
      id: "get_content_class",
      path: ONE,
      tag: TAG,
      summary: "A content class",
      resource,
      query: verboseQuery,
      schema: contentClass,
    }),
    exists({ id: "head_content_class", path: ONE, tag: TAG, summary: "Whether a content class exists", resource }),
    write({
      id: "update_content_class",
      method: "POST",
      path: ONE,
      tag: TAG,
      summary: "Change a content class",
      resource,
      body: contentClassUpdate,
      ...UPDATED,
    }),
    write({
      id: "delete_content_class",
      method: "DELETE",
      path: ONE,
      tag: TAG,
      summary: "Delete a content class",
      resource,
      ...DELETED,
    }),
  ];
}
