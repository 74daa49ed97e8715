import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import type { Bucket } from "@/lib/embedded/store/buckets.ts";
import { demand, managesNamespaces, type Right } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent } from "@/lib/embedded/store/mapi/mapi_error.ts";
import type { MapiRequest } from "@/lib/embedded/store/mapi/mapi_request.ts";

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
