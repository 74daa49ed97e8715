import { mustChangePassword, type Tenant } from "@/embedded/store/accounts.ts";
import { clientOf, requestedBy } from "@/embedded/store/context/requested_by.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { folded } from "@/embedded/store/names.ts";
import { LIMIT_MESSAGES, NOT_RECORDED, StoreError, type StoreErrorCode } from "@/embedded/store/store_error.ts";
import { ChunksTooSmall } from "@/lib/runtime/burst_reader.ts";
import { SlowBody } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { authenticateMapi } from "./mapi_caller.ts";
import { forbidden, MapiError, notFound } from "./mapi_error.ts";
import { type MapiMethods, type MapiRequest, readJsonObject } from "./mapi_request.ts";
import { findResource } from "./resources.ts";
import { createTenant, listTenants } from "./tenants.ts";
import { readSystemUser } from "./users.ts";

/** The software version that responses name. */
const SOFTWARE_VERSION = "9.7.0";

/** Longest part of a URL after `/mapi`, in bytes. */
const MAX_PATH_BYTES = 4095;

/** Statuses and messages of the store's errors in the management API. */
const STORE_ERRORS: Partial<Record<StoreErrorCode, [number, string]>> = {
  AccessDenied: [403, "Not permitted"],
  BucketNotEmpty: [409, "It is not empty"],
  LastAdministrator: [
    409,
    "The last enabled ADMINISTRATOR of a tenant cannot be deleted, disabled or demoted: give another account the role first",
  ],
  NameTaken: [409, "The name is taken"],
  NoSpace: [507, "The disk of the store is full: delete something, or give it more room"],
  NoSuchBucket: [404, "Not found"],
  NotFound: [404, "Not found"],
  NotRecorded: [507, NOT_RECORDED],
  TooManyBuckets: [400, LIMIT_MESSAGES.TooManyBuckets],
  TooManyOwned: [400, LIMIT_MESSAGES.TooManyOwned],
};

/**
 * Serves the management API at one level: a tenant's own, or the system's (`tenant` returns null). `address` is the
 * client's IP address; `onTenant` is awaited when a tenant was created, before the response is sent.
 */
export function mapiHandler(
  store: StoreContext,
  tenant: () => Tenant | null,
  isSystem: boolean,
  onTenant: (tenant: Tenant) => Promise<void>,
): (request: Request, address: string) => Promise<Response> {
  return async (request, address) => {
    let response: Response;
    const id = crypto.randomUUID();
    try {
      response = await handle(
        store,
        request,
        { address, requestId: id },
        isSystem ? null : tenant() ?? throwForbidden(),
        onTenant,
      );
    } catch (error) {
      response = errorResponse(error, request.method);
    }
    response.headers.set("x-hcp-softwareversion", SOFTWARE_VERSION);
    response.headers.set("x-request-id", id);
    response.headers.set("cache-control", "no-store");
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

async function handle(
  store: StoreContext,
  request: Request,
  from: { readonly address: string; readonly requestId: string },
  level: Tenant | null,
  onTenant: (tenant: Tenant) => Promise<void>,
): Promise<Response> {
  const url = new URL(request.url);
  if (!url.pathname.startsWith("/mapi/")) throw notFound("resource");
  if (url.pathname.length + url.search.length - "/mapi".length > MAX_PATH_BYTES) {
    throw new MapiError(414, "The URL is too long");
  }
  const client = clientOf(store, request.headers, from);
  const caller = await authenticateMapi(request.headers.get("authorization"), store, level, client);
  const mapiRequest: MapiRequest = {
    store: request.method === "GET" || request.method === "HEAD" ? store : requestedBy(store, caller.user, client),
    caller,
    method: request.method,
    query: url.searchParams,
    body: () => readJsonObject(request),
  };
  const [root, tenantName, ...segments] = decodedSegments(url.pathname.slice("/mapi/".length));
  if (mustChangePassword(mapiRequest.caller.user) && !isOwnPasswordChange(mapiRequest, tenantName, segments)) {
    throw new MapiError(403, "The password must be changed first, by changePassword of this account");
  }
  if (root === "userAccounts" && tenantName !== undefined && segments.length === 0 && !level) {
    return await respond({ GET: (request) => readSystemUser(request, tenantName) }, mapiRequest);
  }
  if (root !== "tenants") throw notFound("resource");
  if (tenantName === undefined) {
    if (level) throw forbidden();
    return await respond({ GET: listTenants, PUT: (request) => createTenant(request, onTenant) }, mapiRequest);
  }
  const tenant = reachableTenant(store, level, tenantName, request.method, segments);
  const resource = findResource(segments);
  if (!resource) throw notFound("resource");
  return await respond(resource.methods, { ...mapiRequest, tenant, names: resource.names });
}

/**
 * Whether a request changes the caller's own password, which is all that an account may do whose password must be
 * changed.
 */
function isOwnPasswordChange(
  { caller, method }: MapiRequest,
  tenantName: string | undefined,
  [kind, username, action, ...rest]: readonly string[],
): boolean {
  return method === "POST" && kind === "userAccounts" && action === "changePassword" && rest.length === 0 &&
    caller.tenant !== null && folded(caller.tenant.name) === folded(tenantName ?? "") &&
    folded(caller.user.name) === folded(username);
}

/**
 * The tenant of a path: at a tenant's level its own only; at the system's any, its inside only where the tenant allows
 * or has no enabled administrator, to whom an account can then be given.
 */
function reachableTenant(
  store: StoreContext,
  level: Tenant | null,
  name: string,
  method: string,
  inside: readonly string[],
): Tenant {
  if (level) {
    if (folded(level.name) !== folded(name)) throw forbidden();
    return level;
  }
  const tenant = store.accounts.tenant(name);
  if (!tenant) throw notFound(`tenant ${name}`);
  if (inside.length === 0 || tenant.record.administrationAllowed === true) return tenant;
  const depth = method === "PUT" ? 1 : method === "POST" ? 2 : 0;
  const isAccountWrite = inside[0] === "userAccounts" && inside.length === depth;
  if (!isAccountWrite || store.accounts.hasAdministrator(tenant.id)) throw forbidden();
  return tenant;
}

async function respond<R extends MapiRequest>(methods: MapiMethods<R>, request: R): Promise<Response> {
  const name = request.method === "HEAD" ? "GET" : request.method;
  if (!hasMethod(methods, name)) throw new MapiError(405, "The method is not allowed for this resource");
  return await methods[name]?.(request) ?? new Response(null);
}

function hasMethod<M extends object>(methods: M, name: string): name is keyof M & string {
  return Object.hasOwn(methods, name);
}

function errorResponse(error: unknown, method: string): Response {
  const known = asMapiError(error);
  // The modelled store responds to HEAD of an absent resource with a redirect.
  const status = method === "HEAD" && known.status === 404 ? 302 : known.status;
  const headers = { "x-hcp-errormessage": latin1(known.message) };
  return Response.json({ message: known.message }, { status, headers });
}

function asMapiError(error: unknown): MapiError {
  if (error instanceof MapiError) return error;
  if (error instanceof SlowBody) return new MapiError(408, "The body took too long");
  if (error instanceof ChunksTooSmall) return new MapiError(400, `The body: ${error.message}`);
  const storeError = error instanceof StoreError ? STORE_ERRORS[error.code] : undefined;
  if (storeError) return new MapiError(...storeError);
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new MapiError(500, "The store could not complete the request");
}

function decodedSegments(path: string): string[] {
  return path.split("/").map((segment) => {
    const decoded = percentDecoded(segment);
    if (decoded === null) throw new MapiError(400, "The percent-encoding of the path is not valid UTF-8");
    return decoded;
  });
}

/** Header values are Latin-1: other characters of a name are shown as question marks. */
function latin1(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/gu, "?");
}

function throwForbidden(): never {
  throw forbidden();
}
