import type { RequestContext } from "@/lib/http/request_context.ts";
import { dataAccessPath, type StorageAccount } from "./storage_account.ts";
import type { StorageCredentials } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** How the store received a login. */
export type LoginVerdict =
  | { readonly isAccepted: true; readonly account: StorageAccount }
  /** The status with which the gateway refused it, and how long to wait before the next attempt, seconds. */
  | { readonly isAccepted: false; readonly status: number; readonly retryAfter: number | null };

/**
 * Checks a login by one call to the store: the list of buckets, or of tenants at the system level, where there are no
 * buckets. A store with tenants may say 403 for a wrong password, an unknown tenant and an account that may not list
 * buckets alike: there a second call proves the login, to the account's own data access permissions, which only its
 * password opens. In another store 403 is about rights, since the gateway says 401 for refused keys. An account that may
 * not list buckets opens one by its name. In a store that knows no tenants at all, a tenant in front of the name is ignored,
 * so that one account has one name.
 *
 * @throws HttpError when the gateway does not respond
 */
export async function checkStorageLogin(
  gateway: StorageGateway,
  { tenant: typedTenant, user, password }: StorageCredentials,
  context: RequestContext,
): Promise<LoginVerdict> {
  const { hasTenants, hasMapi } = await gateway.storeKind(context);
  const account = { tenant: hasTenants || hasMapi ? typedTenant : null, user };
  const isSystem = hasTenants && account.tenant === null;
  const path = isSystem ? "/mapi/tenants?count=1" : "/buckets";
  const acting = { ...account, password };
  const { status, headers } = await gateway.read(path, acting, context);
  if (status === 200 || (status === 403 && !hasTenants)) return { isAccepted: true, account };
  if (status === 403 && account.tenant !== null && hasMapi) {
    const own = await gateway.read(dataAccessPath(account.tenant, user), acting, context);
    if (own.status === 200) return { isAccepted: true, account };
  }
  const retryAfter = Number(headers.get("Retry-After") ?? NaN);
  return {
    isAccepted: false,
    status: status === 403 ? 401 : status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  };
}
