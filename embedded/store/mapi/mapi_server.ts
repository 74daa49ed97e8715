import { clientOf, requestedBy, type StoreContext } from "@/embedded/store/context/store_context.ts";
import { folded } from "@/embedded/store/names.ts";
import { StoreError, type StoreErrorCode } from "@/embedded/store/store_error.ts";
import { hasAdministrator, mustChangePassword, type Tenant } from "@/embedded/store/stored_accounts.ts";
import { ChunksTooSmall, SlowBody } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { contentClasses, retentionClasses } from "./classes.ts";
import {
  authenticateMapi,
  forbidden,
  MapiError,
  type MapiMethods,
  type MapiRequest,
  notFound,
  readJsonObject,
} from "./mapi_request.ts";
import {
  createNamespace,
  deleteNamespace,
  listNamespaces,
  readNamespace,
  resetVersioningSettings,
  setVersioningSettings,
  showVersioningSettings,
  updateNamespace,
} from "./namespace_handlers.ts";
import { changePassword, resetPasswords } from "./passwords.ts";
import { corsMethods, documentMethods, NAMESPACE_DOCUMENTS, TENANT_DOCUMENTS } from "./settings_documents.ts";
import {
  createTenant,
  deleteTenant,
  listServicePlans,
  listTenants,
  modifyTenant,
  readServicePlan,
  readTenant,
} from "./tenants.ts";
import {
  readNamespaceChargeback,
  readNamespaceStatistics,
  readTenantChargeback,
  readTenantStatistics,
} from "./usage_reports.ts";
import {
  createGroup,
  createUser,
  deleteGroup,
  deleteUser,
  listGroups,
  listUsers,
  modifyGroup,
  modifyUser,
  permissionMethods,
  readGroup,
  readSystemUser,
  readUser,
} from "./user_accounts.ts";

/** The software version that responses name. */
const SOFTWARE_VERSION = "9.7.0";

/** Longest part of a URL after `/mapi`, in bytes. */
const MAX_PATH_BYTES = 4095;

/** Statuses and messages of the store's errors that differ in the management API. */
const STORE_ERRORS: Partial<Record<StoreErrorCode, [number, string]>> = {
  AccessDenied: [403, "Not permitted"],
  BucketNotEmpty: [409, "It is not empty"],
  NameTaken: [409, "The name is taken"],
  NoSuchBucket: [404, "Not found"],
  NotFound: [404, "Not found"],
};

/**
 * Serves the management API at one level: a tenant's own, or the system's (`tenant` is null). `address` is the
 * client's IP address; `onTenant` is called when a tenant was created, before the response is sent.
 */
export function mapiHandler(
  store: StoreContext,
  tenant: (() => Tenant | null) | null,
  onTenant: (tenant: Tenant) => void = () => {},
): (request: Request, address: string) => Promise<Response> {
  return async (request, address) => {
    let response: Response;
    const id = crypto.randomUUID();
    try {
      const level = tenant && tenant();
      if (tenant && !level) throw forbidden();
      response = await handle(store, level, onTenant, request, { address, requestId: id });
    } catch (error) {
      response = errorResponse(error, request.method);
    }
    response.headers.set("x-hcp-softwareversion", SOFTWARE_VERSION);
    response.headers.set("x-request-id", id);
    response.headers.set("cache-control", "no-store");
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/** `level` is the tenant whose port was called; null at the system level. */
async function handle(
  store: StoreContext,
  level: Tenant | null,
  onTenant: (tenant: Tenant) => void,
  request: Request,
  from: { readonly address: string; readonly requestId: string },
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
    body: () => readJsonObject(request, store.bodyReader),
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
  const tenant = reachableTenant(store, level, { name: tenantName, method: request.method, inside: segments });
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
  { name, method, inside }: { readonly name: string; readonly method: string; readonly inside: readonly string[] },
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
  if (!isAccountWrite || hasAdministrator(store.index, tenant.id)) throw forbidden();
  return tenant;
}

async function respond<R extends MapiRequest>(methods: MapiMethods<R>, request: R): Promise<Response> {
  const name = request.method === "HEAD" ? "GET" : request.method;
  const found = Object.entries(methods).find(([method]) => method === name);
  if (!found) throw new MapiError(405, "The method is not allowed for this resource");
  return await found[1](request) ?? new Response(null);
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
  if (error instanceof StoreError) {
    return new MapiError(...STORE_ERRORS[error.code] ?? [error.status, error.message]);
  }
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

/** A tenant, and everything of the management API that is within it, by its path below `/tenants/{tenant}/`. */
const RESOURCES: Readonly<Record<string, MapiMethods>> = {
  "": { GET: readTenant, POST: modifyTenant, DELETE: deleteTenant },
  ...Object.fromEntries(TENANT_DOCUMENTS.map((document) => [document.kind, documentMethods(document, "tenant")])),
  cors: corsMethods("tenant"),
  availableServicePlans: { GET: listServicePlans },
  "availableServicePlans/{plan}": { GET: readServicePlan },
  statistics: { GET: readTenantStatistics },
  chargebackReport: { GET: readTenantChargeback },

  userAccounts: { GET: listUsers, PUT: createUser, POST: resetPasswords },
  "userAccounts/{user}": { GET: readUser, POST: modifyUser, DELETE: deleteUser },
  "userAccounts/{user}/changePassword": { POST: changePassword },
  "userAccounts/{user}/dataAccessPermissions": permissionMethods("user"),

  groupAccounts: { GET: listGroups, PUT: createGroup },
  "groupAccounts/{group}": { GET: readGroup, POST: modifyGroup, DELETE: deleteGroup },
  "groupAccounts/{group}/dataAccessPermissions": permissionMethods("group"),

  contentClasses: contentClasses.all,
  "contentClasses/{class}": contentClasses.one,

  namespaces: { GET: listNamespaces, PUT: createNamespace },
  "namespaces/{namespace}": { GET: readNamespace, POST: updateNamespace, DELETE: deleteNamespace },
  "namespaces/{namespace}/versioningSettings": {
    GET: showVersioningSettings,
    POST: setVersioningSettings,
    DELETE: resetVersioningSettings,
  },
  ...Object.fromEntries(
    NAMESPACE_DOCUMENTS.map((document) => [
      `namespaces/{namespace}/${document.kind}`,
      documentMethods(document, "namespace"),
    ]),
  ),
  "namespaces/{namespace}/retentionClasses": retentionClasses.all,
  "namespaces/{namespace}/retentionClasses/{class}": retentionClasses.one,
  "namespaces/{namespace}/cors": corsMethods("namespace"),
  "namespaces/{namespace}/statistics": { GET: readNamespaceStatistics },
  "namespaces/{namespace}/chargebackReport": { GET: readNamespaceChargeback },
};

const TEMPLATES = Object.entries(RESOURCES)
  .map(([path, methods]) => ({ parts: path === "" ? [] : path.split("/"), methods }));

/** The resource of a path's decoded segments below the tenant, with its names; null for what is not there. */
function findResource(segments: readonly string[]): { methods: MapiMethods; names: string[] } | null {
  const found = TEMPLATES.find(({ parts }) =>
    parts.length === segments.length &&
    parts.every((part, i) => isName(part) ? segments[i] !== "" : part === segments[i])
  );
  if (!found) return null;
  return { methods: found.methods, names: segments.filter((_, i) => isName(found.parts[i])) };
}

function isName(part: string): boolean {
  return part.startsWith("{");
}
