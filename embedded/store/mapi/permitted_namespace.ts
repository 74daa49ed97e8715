import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { managesNamespaces, requireRight, type Right } from "./mapi_caller.ts";
import { notFound } from "./mapi_error.ts";
import type { MapiRequest } from "./mapi_request.ts";

/** A namespace that the caller owns and may manage, or has a right to by role. Throws 403 or 404. */
export function permittedNamespace(
  tenant: Tenant,
  name: string,
  { store, caller }: MapiRequest,
  right: Right,
): Bucket {
  const bucket = store.buckets.bucket(tenant.id, name);
  const isOwner = bucket?.owner === caller.user.id && managesNamespaces(caller);
  if (!isOwner) requireRight(caller, right);
  if (!bucket) throw notFound(`namespace ${name}`);
  return bucket;
}
