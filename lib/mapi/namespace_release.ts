import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callMapi, type Mapi, mapiPath } from "./client.ts";

/**
 * Lets the records of deleted objects go, which keep a namespace from being deleted: its versions are pruned at once, and
 * no records are stored.
 *
 * @throws HttpError as {@link callMapi}
 */
export async function pruneAtOnce(mapi: Mapi, caller: Caller, tenant: string, namespace: string): Promise<void> {
  await callMapi(mapi, caller, {
    method: "POST",
    path: mapiPath`/tenants/${tenant}/namespaces/${namespace}/versioningSettings`,
    body: { keepDeletionRecords: false, prune: true, pruneDays: 0 },
    resource: `namespace '${namespace}'`,
  });
}

/** Switches searching off: what can be searched keeps its records. @throws HttpError as {@link callMapi} */
export async function stopSearching(mapi: Mapi, caller: Caller, tenant: string, namespace: string): Promise<void> {
  await callMapi(mapi, caller, {
    method: "POST",
    path: mapiPath`/tenants/${tenant}/namespaces/${namespace}`,
    body: { searchEnabled: false },
    resource: `namespace '${namespace}'`,
  });
}

/** Deletes a namespace without objects or deletion records. @throws HttpError 409 when it has some, 404, 403 */
export async function deleteNamespace(mapi: Mapi, caller: Caller, tenant: string, namespace: string): Promise<void> {
  await callMapi(mapi, caller, {
    method: "DELETE",
    path: mapiPath`/tenants/${tenant}/namespaces/${namespace}`,
    resource: `namespace '${namespace}'`,
  });
}
