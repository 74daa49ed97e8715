import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import {
  changeGroupPermissions,
  changeUserPermissions,
  readGroupPermissions,
  readUserPermissions,
} from "@/lib/embedded/store/mapi/data_access.ts";
import { createGroup, deleteGroup, listGroups, modifyGroup, readGroup } from "@/lib/embedded/store/mapi/groups.ts";
import { authenticateMapi } from "@/lib/embedded/store/mapi/mapi_caller.ts";
import { absent, forbidden, MapiError } from "@/lib/embedded/store/mapi/mapi_error.ts";
import {
  deleteNamespaceCors,
  deleteTenantCors,
  readNamespaceCors,
  readTenantCors,
  writeNamespaceCors,
  writeTenantCors,
} from "@/lib/embedded/store/mapi/cors.ts";
import { type MapiRequest, readJsonObject } from "@/lib/embedded/store/mapi/mapi_request.ts";
import {
  createNamespace,
  deleteNamespace,
  listNamespaces,
  readNamespace,
  updateNamespace,
} from "@/lib/embedded/store/mapi/namespaces.ts";
import { createTenant, deleteTenant, listTenants, readTenant } from "@/lib/embedded/store/mapi/tenants.ts";
import { createUser, deleteUser, listUsers, readUser } from "@/lib/embedded/store/mapi/users.ts";
import {
  resetVersioningSettings,
  setVersioningSettings,
  showVersioningSettings,
} from "@/lib/embedded/store/mapi/versioning_settings.ts";
import { folded } from "@/lib/embedded/store/names.ts";
import { Refusal, type RefusalReason } from "@/lib/embedded/store/refusal.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/** The version of the store's software that answers name. */
const SOFTWARE_VERSION = "9.7.0";

/** Longest part of a URL behind `/mapi`, in bytes. */
const MAX_PATH_BYTES = 4095;

/** How the management API spells the refusals of the index. */
const REFUSALS: Partial<Record<RefusalReason, [number, string]>> = {
  AccessDenied: [403, "Not permitted"],
  BucketNotEmpty: [409, "It is not empty"],
  NameTaken: [409, "The name is taken"],
  NoSpace: [413, "The store has no space left"],
  NoSuchBucket: [404, "Not found"],
  NotFound: [404, "Not found"],
  TooManyBuckets: [400, "The namespaceQuota of the tenant allows no further namespace"],
};

type Answer = Response | Promise<Response>;

/**
 * Answers the management API at one level: a tenant's own, or the system's (`tenant` gives null).
 * `onTenant` is awaited when a tenant was made, before the answer says so.
 */
export function mapiHandler(
  store: StoreParts,
  tenant: () => Tenant | null,
  isSystem: boolean,
  onTenant: (tenant: Tenant) => Promise<void>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    let response: Response;
    try {
      response = await answer(store, request, isSystem ? null : tenant() ?? refuse(), onTenant);
    } catch (error) {
      response = errorResponse(error, request.method);
    }
    response.headers.set("x-hcp-softwareversion", SOFTWARE_VERSION);
    response.headers.set("cache-control", "no-store");
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

function answer(
  store: StoreParts,
  request: Request,
  level: Tenant | null,
  onTenant: (tenant: Tenant) => Promise<void>,
): Answer {
  const url = new URL(request.url);
  if (!url.pathname.startsWith("/mapi/")) throw absent("resource");
  if (url.pathname.length + url.search.length - "/mapi".length > MAX_PATH_BYTES) {
    throw new MapiError(414, "The URL is too long");
  }
  const caller = authenticateMapi(request.headers.get("authorization"), store, level);
  const asked: MapiRequest = {
    store,
    caller,
    method: request.method,
    query: url.searchParams,
    body: () => readJsonObject(request),
  };
  const [root, tenantName, collection, name, document, ...rest] = decodedSegments(url.pathname.slice("/mapi/".length));
  // A slash within a segment would read like two of them below.
  const isSimple = ![collection, document].some((segment) => segment?.includes("/"));
  if (root !== "tenants" || rest.length > 0 || !isSimple) throw absent("resource");
  if (tenantName === undefined) {
    if (level) throw forbidden();
    return byMethod(asked.method, { GET: () => listTenants(asked), PUT: () => createTenant(asked, onTenant) });
  }
  const tenant = reachableTenant(store, level, tenantName, collection !== undefined);
  if (collection === undefined) {
    return byMethod(asked.method, {
      GET: () => readTenant(tenant, asked),
      DELETE: () => level ? refuse() : deleteTenant(tenant, asked),
    });
  }
  switch (`${collection}${name === undefined ? "" : "/{name}"}${document === undefined ? "" : `/${document}`}`) {
    case "namespaces":
      return byMethod(asked.method, {
        GET: () => listNamespaces(tenant, asked),
        PUT: () => createNamespace(tenant, asked),
      });
    case "namespaces/{name}":
      return byMethod(asked.method, {
        GET: () => readNamespace(tenant, name, asked),
        POST: () => updateNamespace(tenant, name, asked),
        DELETE: () => deleteNamespace(tenant, name, asked),
      });
    case "namespaces/{name}/versioningSettings":
      return byMethod(asked.method, {
        GET: () => showVersioningSettings(tenant, name, asked),
        POST: () => setVersioningSettings(tenant, name, asked),
        DELETE: () => resetVersioningSettings(tenant, name, asked),
      });
    case "userAccounts":
      return byMethod(asked.method, { GET: () => listUsers(tenant, asked), PUT: () => createUser(tenant, asked) });
    case "userAccounts/{name}":
      return byMethod(asked.method, {
        GET: () => readUser(tenant, name, asked),
        DELETE: () => deleteUser(tenant, name, asked),
      });
    case "cors":
      return byMethod(asked.method, {
        GET: () => readTenantCors(tenant, asked),
        PUT: () => writeTenantCors(tenant, asked),
        DELETE: () => deleteTenantCors(tenant, asked),
      });
    case "namespaces/{name}/cors":
      return byMethod(asked.method, {
        GET: () => readNamespaceCors(tenant, name, asked),
        PUT: () => writeNamespaceCors(tenant, name, asked),
        DELETE: () => deleteNamespaceCors(tenant, name, asked),
      });
    case "userAccounts/{name}/dataAccessPermissions":
      return byMethod(asked.method, {
        GET: () => readUserPermissions(tenant, name, asked),
        POST: () => changeUserPermissions(tenant, name, asked),
      });
    case "groupAccounts":
      return byMethod(asked.method, { GET: () => listGroups(tenant, asked), PUT: () => createGroup(tenant, asked) });
    case "groupAccounts/{name}":
      return byMethod(asked.method, {
        GET: () => readGroup(tenant, name, asked),
        POST: () => modifyGroup(tenant, name, asked),
        DELETE: () => deleteGroup(tenant, name, asked),
      });
    case "groupAccounts/{name}/dataAccessPermissions":
      return byMethod(asked.method, {
        GET: () => readGroupPermissions(tenant, name, asked),
        POST: () => changeGroupPermissions(tenant, name, asked),
      });
    default:
      throw absent("resource");
  }
}

/** The tenant of a path: at a tenant's level its own only; at the system's any, its inside only where the tenant allows. */
function reachableTenant(store: StoreParts, level: Tenant | null, name: string, inside: boolean): Tenant {
  if (level) {
    if (folded(level.name) !== folded(name)) throw forbidden();
    return level;
  }
  const tenant = store.accounts.tenant(name);
  if (!tenant) throw absent(`tenant ${name}`);
  if (inside && tenant.record.administrationAllowed !== true) throw forbidden();
  return tenant;
}

function byMethod(method: string, answers: Record<string, () => Answer>): Answer {
  const name = method === "HEAD" ? "GET" : method;
  if (!Object.hasOwn(answers, name)) throw new MapiError(405, "The method is not allowed for this resource");
  return answers[name]();
}

function errorResponse(error: unknown, method: string): Response {
  const known = asMapiError(error);
  // The real store tells an absent resource by a redirect when only its existence is asked for.
  const status = method === "HEAD" && known.status === 404 ? 302 : known.status;
  const headers = { "x-hcp-errormessage": latin1(known.message) };
  return Response.json({ message: known.message }, { status, headers });
}

function asMapiError(error: unknown): MapiError {
  if (error instanceof MapiError) return error;
  const refusal = error instanceof Refusal ? REFUSALS[error.reason] : undefined;
  if (refusal) return new MapiError(...refusal);
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new MapiError(500, "The store could not complete the request");
}

function decodedSegments(path: string): string[] {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    throw new MapiError(400, "The percent-encoding of the path is not valid UTF-8");
  }
}

/** Header values are Latin-1: other characters of a name are shown as question marks. */
function latin1(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/gu, "?");
}

function refuse(): never {
  throw forbidden();
}
