import type { Tenant } from "@/embedded/store/accounts.ts";
import type { Bucket } from "@/embedded/store/buckets.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { BodyTooLong, readRequest } from "@/lib/std/read_limited.ts";
import { STREAM_BOUNDS } from "@/lib/std/time_bounds.ts";
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

/**
 * Reads a body that must be one JSON object, up to its bound.
 *
 * @throws {MapiError} 400 or 413
 */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const bytes = await readRequest(request, { maxBytes: MAX_BODY_BYTES, bounds: STREAM_BOUNDS }).catch((error) => {
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
 * A namespace that the caller owns and may manage, or has a right to by role.
 *
 * @throws {MapiError} 403 or 404
 */
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
