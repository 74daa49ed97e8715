import type { Operation } from "@/lib/http/operation.ts";
import { contentClass, contentClassCreate, contentClassUpdate } from "@/lib/mapi/records/content_class.ts";
import { nameList } from "@/lib/mapi/records/lists.ts";
import { CREATED } from "./change_results.ts";
import type { MapiOperations } from "./mapi_operations.ts";
import { recordKind } from "./record_kind.ts";

const CLASSES = recordKind({
  tag: "Tenant Admin: Content Classes",
  nouns: ["content class", "content classes"],
  path: "/tenants/{tenant_name}/contentClasses",
  parameter: "name",
});

/** Content classes: which properties annotations have, and in which namespaces. */
export function contentClassOperations({ read, write, exists }: MapiOperations): Operation[] {
  return [
    read({ ...CLASSES.list, schema: nameList }),
    write({ ...CLASSES.create, audit: "content_class_create", body: contentClassCreate, ...CREATED }),
    read({ ...CLASSES.get, schema: contentClass }),
    exists(CLASSES.head),
    write({ ...CLASSES.update, audit: "content_class_change", body: contentClassUpdate }),
    write({ ...CLASSES.delete, audit: "content_class_delete" }),
  ];
}
