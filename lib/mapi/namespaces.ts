import type { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callMapi, type Mapi, mapiPath } from "./client.ts";
import { type ListQuery, nameList, type NamespaceCreate, storeAnswer, storeListQuery } from "./records.ts";

/** A tenant's namespaces. @throws HttpError as {@link callMapi} */
export async function listNamespaces(
  mapi: Mapi,
  caller: Caller,
  tenant: string,
  query: ListQuery,
): Promise<z.output<typeof nameList>> {
  const { body } = await callMapi(mapi, caller, {
    method: "GET",
    path: mapiPath`/tenants/${tenant}/namespaces`,
    query: storeListQuery(query),
    resource: "namespaces",
  });
  return storeAnswer(nameList, body, "namespaces");
}

/** Makes a namespace, which S3 shows as a bucket. @throws HttpError 409 when it exists, else as {@link callMapi} */
export async function createNamespace(
  mapi: Mapi,
  caller: Caller,
  tenant: string,
  namespace: NamespaceCreate,
): Promise<void> {
  await callMapi(mapi, caller, {
    method: "PUT",
    path: mapiPath`/tenants/${tenant}/namespaces`,
    body: namespace,
    resource: "namespace",
  });
}
