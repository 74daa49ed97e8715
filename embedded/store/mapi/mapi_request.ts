import { createHash, timingSafeEqual } from "node:crypto";
import type { ChangeOrigin } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import {
  type Group,
  mayManageNamespaces,
  rolesOf,
  SYSTEM,
  type Tenant,
  type User,
} from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import { BodyTooLong, readRequest, type TakeReader } from "@/lib/std/body_reader.ts";
import { isObject } from "@/lib/std/untrusted.ts";

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

/** The methods of a resource; HEAD is handled as GET, without the body. No result means an empty response. */
export type MapiMethods<R extends MapiRequest = TenantRequest> = Readonly<
  Partial<Record<"GET" | "PUT" | "POST" | "DELETE", (request: R) => MaybePromise<Response | void>>>
>;

/**
 * Reads a body that must be one JSON object, up to its bound.
 *
 * @throws {MapiError} 400 or 413
 */
export async function readJsonObject(request: Request, takeReader: TakeReader): Promise<Record<string, unknown>> {
  const bytes = await readRequest(request, { maxBytes: MAX_BODY_BYTES }, takeReader).catch((error) => {
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

/** An error response of the management API; the message goes into `X-HCP-ErrorMessage`. */
export class MapiError extends Error {
  override name = "MapiError";

  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** The error for a caller without the right, or without valid credentials: the store makes no difference. */
export function forbidden(): MapiError {
  return new MapiError(403, "Not permitted, or the credentials are not valid");
}

/** The error for an absent resource. */
export function notFound(what: string): MapiError {
  return new MapiError(404, `${what} not found`);
}

/** The error for an invalid member of a body, or an invalid parameter. */
export function invalid(what: string, rule: string): MapiError {
  return new MapiError(400, `${what} ${rule}`);
}

/**
 * The error for a well-formed member that conflicts with the present state: it names an absent thing, or must not
 * change.
 */
export function conflicting(what: string, rule: string): MapiError {
  return new MapiError(409, `${what} ${rule}`);
}

/** The caller of the management API, at the level of the called port. */
export interface MapiCaller {
  user: User;
  /** The groups that the user is in: their roles are the user's, too. */
  groups: readonly Group[];
  /** The tenant whose port was called; null at the system level. */
  tenant: Tenant | null;
}

/** The rights of roles, named as in the contract's table of roles. */
export type Right = "administer" | "manage users" | "comply" | "read figures" | "read";

const RIGHTS: Record<Right, readonly string[]> = {
  administer: ["ADMINISTRATOR"],
  "manage users": ["ADMINISTRATOR", "SECURITY"],
  comply: ["ADMINISTRATOR", "COMPLIANCE"],
  "read figures": ["ADMINISTRATOR", "MONITOR"],
  read: ["ADMINISTRATOR", "SECURITY", "MONITOR", "COMPLIANCE"],
};

/**
 * Checks `Authorization: HCP base64(user):md5(password)` or `AD user:password`; wrong passwords are counted.
 *
 * @param client recorded with a failed login
 * @throws {MapiError} 403, as the store does for whatever is wrong
 */
export async function authenticateMapi(
  header: string | null,
  { accounts, logins, loginFailed }: StoreContext,
  tenant: Tenant | null,
  { isByGateway, ...client }: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">,
): Promise<MapiCaller> {
  const stated = statedCredentials(header);
  if (!stated) throw forbidden();
  const user = await logins.attempt(
    () => accounts.user(tenant?.id ?? SYSTEM, stated.username),
    (user) => isPassword(user, stated.passwordMd5),
  );
  if (user === "closed" || user === "wrong") {
    if (!isByGateway) {
      loginFailed({ ...client, tenant: tenant?.name ?? null, name: stated.username, protocol: "mapi" });
    }
    throw forbidden();
  }
  return { user, groups: accounts.groupsOf(user.id), tenant };
}

/** Whether a hexadecimal MD5 is that of a user's password. */
export function isPassword(user: User, passwordMd5: string): boolean {
  const [sent, stored] = [passwordMd5, user.passwordMd5].map((md5) => createHash("sha256").update(md5).digest());
  return timingSafeEqual(sent, stored);
}

/** Whether a caller's roles give a right. */
export function has(caller: MapiCaller, right: Right): boolean {
  return [caller.user, ...caller.groups].some((one) => rolesOf(one).some((role) => RIGHTS[right].includes(role)));
}

/** Whether a caller may create namespaces, alone or as a member of a group. */
export function managesNamespaces({ user, groups }: MapiCaller): boolean {
  return [user, ...groups].some(mayManageNamespaces);
}

/** @throws {MapiError} 403 unless a caller's roles give a right */
export function requireRight(caller: MapiCaller, right: Right): void {
  if (!has(caller, right)) throw forbidden();
}

function statedCredentials(header: string | null): { username: string; passwordMd5: string } | null {
  const native = /^HCP ([A-Za-z0-9+/]*={0,2}):([0-9a-f]{32})$/.exec(header ?? "");
  if (native && native[1].length % 4 === 0) {
    const bytes = Uint8Array.from(atob(native[1]), (character) => character.charCodeAt(0));
    return { username: new TextDecoder().decode(bytes), passwordMd5: native[2] };
  }
  const plain = /^AD ([^:]+):(.*)$/s.exec(header ?? "");
  if (!plain) return null;
  // Header values arrive as Latin-1 characters, one for each byte of the UTF-8 that was sent.
  const [username, password] = plain.slice(1).map((text) =>
    new TextDecoder().decode(Uint8Array.from(text, (character) => character.charCodeAt(0)))
  );
  return { username, passwordMd5: createHash("md5").update(password).digest("hex") };
}

/**
 * Whether the system level acts in a tenant that does not let it in: only to give it an administrator where it has none.
 */
export function isRecovery({ caller, tenant }: { readonly caller: MapiCaller; readonly tenant: Tenant }): boolean {
  return caller.tenant === null && tenant.record.administrationAllowed !== true;
}

const ADMINISTRATOR = "ADMINISTRATOR";

/** Whether a record of a user or a group has the role ADMINISTRATOR; absent records have none. */
export function isAdministrator(record: Readonly<Record<string, unknown>> | undefined): boolean {
  return record !== undefined && rolesOf({ record }).includes(ADMINISTRATOR);
}

/**
 * Lets only administrators assign the role ADMINISTRATOR: a caller who may only manage users could otherwise assign it
 * to itself.
 *
 * @param isAssigned whether the change makes a user an administrator who was not one before
 * @throws MapiError 403
 */
export function requireMayAppoint(caller: MapiCaller, isAssigned: boolean): void {
  if (isAssigned && !has(caller, "administer")) {
    throw new MapiError(
      403,
      `Only an ${ADMINISTRATOR} may give the role ${ADMINISTRATOR}, by an account or by a group`,
    );
  }
}
