import type { Tenant, User } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { BodyTooLong } from "@/lib/std/body_reader.ts";
import { readRequest } from "@/lib/runtime/request_body.ts";
import { managesNamespaces, type MapiCaller, requireRight, type Right } from "./mapi_caller.ts";
import { MapiError, notFound } from "./mapi_error.ts";

/** Largest body of a request, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** A request to the management API whose caller is known. */
export interface MapiRequest {
  store: StoreContext;
  caller: MapiCaller;
  method: string;
  query: URLSearchParams;
  /**
   * The body as a JSON object.
   *
   * @throws {MapiError} 400 or 413
   */
  body(): Promise<Record<string, unknown>>;
}

/** A request for something of one tenant, with the names of its path below the tenant, decoded. */
export interface TenantRequest extends MapiRequest {
  tenant: Tenant;
  names: readonly string[];
}

type MaybePromise<T> = T | Promise<T>;

/** The methods of a resource; HEAD is handled as GET, without the body. No response stands for an empty one. */
export type MapiMethods<R extends MapiRequest = TenantRequest> = Readonly<
  Partial<Record<"GET" | "PUT" | "POST" | "DELETE", (request: R) => MaybePromise<Response | void>>>
>;

/**
 * Reads a body that must be one JSON object, up to its bound.
 *
 * @throws {MapiError} 400 or 413
 */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const bytes = await readRequest(request, { maxBytes: MAX_BODY_BYTES }).catch((error) => {
    throw error instanceof BodyTooLong ? new MapiError(413, "The body is larger than 4 MiB") : error;
  });
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes));
    if (isObject(value)) return value;
  } catch {
    // Handled below, like any other body that is not an object.
  }
  throw new MapiError(400, "The body must be one JSON object");
}

/** A list of names under its identifying member, or full records where the query requests them. */
export function listResponse(member: string, records: readonly Record<string, unknown>[], verbose: boolean): Response {
  return Response.json(verbose ? records : { [member]: records.map((record) => record[member]) });
}

/** An instant as the management API spells it. */
export function mapiTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "+0000");
}

/** The members of a record that are named. */
export function only(record: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]));
}

/**
 * The namespace of a path, for callers that own it and may manage namespaces, or have a right by role.
 *
 * @throws {MapiError} 403 or 404
 */
export function permittedNamespace({ store, caller, tenant, names: [name] }: TenantRequest, right: Right): Bucket {
  const bucket = store.buckets.bucket(tenant.id, name);
  const isOwner = bucket?.owner === caller.user.id && managesNamespaces(caller);
  if (!isOwner) requireRight(caller, right);
  if (!bucket) throw notFound(`namespace ${name}`);
  return bucket;
}

/**
 * The namespace of a path, for callers that own it or have the right to read.
 *
 * @throws {MapiError} 403 or 404
 */
export function readableNamespace({ store, caller, tenant, names: [name] }: TenantRequest): Bucket {
  const bucket = store.buckets.bucket(tenant.id, name);
  if (bucket?.owner !== caller.user.id) requireRight(caller, "read");
  if (!bucket) throw notFound(`namespace ${name}`);
  return bucket;
}

/**
 * The user of a path, for the user itself and callers with a right.
 *
 * @throws {MapiError} 403 or 404
 */
export function permittedUser({ store, caller, tenant, names: [name] }: TenantRequest, right: Right): User {
  const user = store.accounts.user(tenant.id, name);
  if (user?.id !== caller.user.id) requireRight(caller, right);
  if (!user) throw notFound(`user ${name}`);
  return user;
}
