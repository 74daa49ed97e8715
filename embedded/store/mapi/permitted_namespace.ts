import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import { demand, managesNamespaces, type Right } from "./mapi_caller.ts";
import { absent } from "./mapi_error.ts";
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
  if (!isOwner) demand(caller, right);
  if (!bucket) throw absent(`namespace ${name}`);
  return bucket;
}
