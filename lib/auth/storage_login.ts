import type { RequestContext } from "@/lib/http/request_context.ts";
import type { StorageAccount, StorageCredentials } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** How the store received a login. */
export type LoginVerdict =
  | { readonly isAccepted: true; readonly account: StorageAccount }
  /** The status with which the gateway refused it, and how long to wait before the next attempt, seconds. */
  | { readonly isAccepted: false; readonly status: number; readonly retryAfter: number | null };

/** No store is expected to have a bucket of this name. In its log the name says what the request was for. */
const ABSENT_BUCKET = "stackroom-checks-a-login";

/**
 * Checks a login by one call to the store: the list of buckets, or of tenants at the system level, where there are no
 * buckets. A store with tenants may say 403 for a wrong password, an unknown tenant and an account that may not list
 * buckets alike: there a second call proves the login. Only to a signature that it accepts a store says that there is no
 * such bucket. The management API would prove less, since it is closed to most accounts of an HCP. In another store 403 is
 * about rights, since the gateway says 401 for refused keys. An account that may not list buckets opens one by its name. In
 * a store that knows no tenants at all, a tenant in front of the name is ignored, so that one account has one name.
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
  const listed = await gateway.read(path, acting, context);
  const { status } = listed;
  if (status === 200 || (status === 403 && !hasTenants)) return { isAccepted: true, account };
  if (status !== 403 || account.tenant === null) return refusal(listed);
  const absent = await gateway.read(`/buckets/${ABSENT_BUCKET}/objects?max_keys=1`, acting, context);
  // 200 where there is one after all.
  if (absent.status === 404 || absent.status === 200) return { isAccepted: true, account };
  // A store that could not check the password has not called it wrong.
  return refusal(absent.status === 429 || absent.status >= 500 ? absent : listed);
}

/** The verdict of a response that proves no login. */
function refusal({ status, headers }: { readonly status: number; readonly headers: Headers }): LoginVerdict {
  const retryAfter = Number(headers.get("Retry-After") ?? NaN);
  return {
    isAccepted: false,
    status: status === 403 ? 401 : status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  };
}
