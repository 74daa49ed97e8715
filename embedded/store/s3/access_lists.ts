import {
  type Acl,
  ACL_PERMISSIONS,
  type AclGrant,
  type AclPermission,
  aclsUsageOf,
  defaultAcl,
  type Grantee,
  MAX_GRANTS,
  type Owned,
  serializeAcl,
} from "@/embedded/store/access.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { bucketAccess, permittedBucket, type S3Call } from "./caller.ts";
import { permittedVersion, versionHeader } from "./read_object.ts";
import { smallBody, xmlBody } from "./received_body.ts";
import { keyBytes } from "./s3_request.ts";
import { childText, element, type XmlElement, xmlResponse } from "./xml.ts";

/**
 * Reads the access list of a PutBucketAcl or PutObjectAcl from its headers or its body.
 *
 * @returns a function that makes it the access list of a target, as the index stores it. It throws StoreError AccessDenied
 *   where the body names another owner than the present one
 * @throws {StoreError}
 */
async function readPutAcl(call: S3Call): Promise<(target: AclTarget) => string | null> {
  const { store, caller, request } = call;
  const stated = statedAcl(request.headers);
  if (stated) {
    if ((await smallBody(request)).length > 0) {
      throw new StoreError("InvalidRequest", "An access list comes in the headers or in the body, not in both");
    }
    return (target) => aclOf(call, stated, target);
  }
  const { owner, grants } = readAclXml(await xmlBody(request, caller, "AccessControlPolicy"));
  const stored = serializeAcl(resolveGrants(store, caller.tenant, grants));
  return (target) => {
    const present = target.owner === null ? null : store.accounts.userById(target.owner);
    if (owner !== null && owner.toLowerCase() !== present?.guid) {
      throw new StoreError("AccessDenied", "The owner cannot be changed by an access list");
    }
    return stored;
  };
}

/**
 * The response with the access list of a bucket or an object; where the namespace has none, it grants the owner full
 * control.
 */
function aclResponse(
  { store, caller }: S3Call,
  settings: Readonly<Record<string, unknown>>,
  { owner, acl }: Owned,
  headers: Record<string, string> = {},
): Response {
  const user = owner === null ? null : store.accounts.userById(owner);
  const stored = aclsUsageOf(settings) === "none" ? null : acl;
  const grants = displayedGrants(store, caller.tenant, stored ?? defaultAcl(user?.guid ?? null));
  const ownerAccount = user && { id: user.guid, displayName: user.name };
  return xmlResponse("AccessControlPolicy", aclContent(ownerAccount, grants), headers);
}

/** GetBucketAcl */
export function getBucketAcl(call: S3Call): Response {
  const bucket = permittedBucket(call, call.bucket, "READ_ACL");
  return aclResponse(call, bucket.record, bucket);
}

/** PutBucketAcl: replaces the present list. */
export async function putBucketAcl(call: S3Call): Promise<Response> {
  requireAcls(permittedBucket(call, call.bucket, "WRITE_ACL").record);
  const aclFor = await readPutAcl(call);
  // The body may have taken long to arrive, so the permission is checked again.
  const { id, owner } = permittedBucket(call, call.bucket, "WRITE_ACL");
  await call.store.writer.change("setBucketAcl", { bucket: id, acl: aclFor({ owner, bucketOwner: null }) });
  return new Response(null);
}

/** How often an object that was overwritten between its look-up and the change is looked up again. */
const ATTEMPTS = 5;

/** GetObjectAcl */
export function getObjectAcl(call: S3Call): Response {
  const access = bucketAccess(call, call.bucket);
  const object = permittedVersion(call, "READ_ACL", access);
  return aclResponse(call, access.bucket.record, object, versionHeader(object.version));
}

/** PutObjectAcl: replaces the present list, on the current version or the one that is named. */
export async function putObjectAcl(call: S3Call): Promise<Response> {
  const { store, key } = call;
  const before = bucketAccess(call, call.bucket);
  permittedVersion(call, "WRITE_ACL", before);
  requireAcls(before.bucket.record);
  const aclFor = await readPutAcl(call);
  for (let attempt = 1;; attempt++) {
    const access = bucketAccess(call, call.bucket);
    const object = permittedVersion(call, "WRITE_ACL", access);
    const acl = aclFor({ owner: object.owner, bucketOwner: access.bucket.owner });
    const at = { bucket: access.bucket.id, key: keyBytes(key), seq: object.seq };
    try {
      await store.writer.change("setObjectAcl", { ...at, acl });
      return new Response(null, { headers: versionHeader(object.version) });
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== "NoSuchKey" || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The target of an access list: the ids of the users who own it and its bucket. */
interface AclTarget {
  readonly owner: number | null;
  /** Null for a list of the bucket itself. */
  readonly bucketOwner: number | null;
}

/**
 * The access list in the headers of a write, as the index stores it; null where there is none, or where it equals the
 * default.
 *
 * @throws {StoreError}
 */
export function requestedAcl(
  call: S3Call,
  settings: Readonly<Record<string, unknown>>,
  target: AclTarget,
): string | null {
  const stated = statedAcl(call.request.headers);
  if (!stated) return null;
  requireAcls(settings);
  return aclOf(call, stated, target);
}

/**
 * A stated access list as the index stores it; null where it equals the default.
 *
 * @throws {StoreError}
 */
function aclOf({ store, caller }: S3Call, stated: StatedAcl, target: AclTarget): string | null {
  if ("grants" in stated) return serializeAcl(resolveGrants(store, caller.tenant, stated.grants));
  const [owner, bucketOwner] = [target.owner, target.bucketOwner].map((id) =>
    id === null ? null : store.accounts.userById(id)?.guid ?? null
  );
  const further = cannedGrants(stated.canned, bucketOwner === owner ? null : bucketOwner);
  return further.length === 0 ? null : serializeAcl([...defaultAcl(owner), ...further]);
}

/** @throws {StoreError} AccessControlListNotSupported where a namespace has no access lists */
function requireAcls(settings: Readonly<Record<string, unknown>>): void {
  if (aclsUsageOf(settings) === "none") throw new StoreError("AccessControlListNotSupported");
}

function cannedGrants(canned: CannedAcl, bucketOwner: string | null): Acl {
  return CANNED_GRANTS[canned].flatMap(([to, permission]) => {
    const grantee = to !== "bucket owner" ? to : bucketOwner && { user: bucketOwner };
    return grantee ? [{ grantee, permission }] : [];
  });
}

/** S3's own groups (S3 API, access control lists). */
export const ALL_USERS = "http://acs.amazonaws.com/groups/global/AllUsers";
export const AUTHENTICATED_USERS = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";

/** Prefix of the URI of a group account, before its percent-encoded name. */
export const GROUP_URI = "http://stackroom.dev/groups/";

/**
 * Grants with the GUIDs of present accounts of the tenant, as they are stored.
 *
 * @throws {StoreError} InvalidArgument
 */
function resolveGrants(store: StoreContext, tenant: number, grants: readonly NamedGrant[]): Acl {
  return grants.map(({ grantee, permission }) => ({ grantee: resolveGrantee(store, tenant, grantee), permission }));
}

/** Stored grants for display, groups first as in S3. Those to deleted accounts are left out, as they grant nothing. */
function displayedGrants(store: StoreContext, tenant: number, acl: Acl): DisplayedGrant[] {
  return acl.flatMap((grant) => shown(store, tenant, grant) ?? [])
    .sort((a, b) => Number("id" in a.grantee) - Number("id" in b.grantee));
}

function resolveGrantee({ accounts }: StoreContext, tenant: number, grantee: NamedGrantee): Grantee {
  if ("id" in grantee) {
    const user = accounts.userByGuid(tenant, grantee.id.toLowerCase());
    if (!user) throw new StoreError("InvalidArgument", "The ID of a grantee is not that of a user of the tenant");
    return { user: user.guid };
  }
  if (grantee.uri === ALL_USERS) return "everybody";
  if (grantee.uri === AUTHENTICATED_USERS) return "users";
  const name = grantee.uri.startsWith(GROUP_URI) ? percentDecoded(grantee.uri.slice(GROUP_URI.length)) : null;
  const group = name === null ? null : accounts.group(tenant, name);
  if (!group) throw new StoreError("InvalidArgument", "The URI of a grantee is not that of a group");
  return { group: group.guid };
}

function shown({ accounts }: StoreContext, tenant: number, { grantee, permission }: AclGrant): DisplayedGrant | null {
  if (grantee === "everybody") return { grantee: { uri: ALL_USERS }, permission };
  if (grantee === "users") return { grantee: { uri: AUTHENTICATED_USERS }, permission };
  if ("group" in grantee) {
    const group = accounts.groupByGuid(tenant, grantee.group);
    return group && { grantee: { uri: GROUP_URI + encodeURIComponent(group.name) }, permission };
  }
  const user = accounts.userByGuid(tenant, grantee.user);
  return user && { grantee: { id: user.guid }, permission, displayName: user.name };
}

/**
 * The supported canned access lists (S3 API, canned ACL), with the grants of each beside full control for the owner.
 */
const CANNED_GRANTS = {
  private: [],
  "public-read": [["everybody", "READ"]],
  "public-read-write": [["everybody", "READ"], ["everybody", "WRITE"]],
  "authenticated-read": [["users", "READ"]],
  "bucket-owner-read": [["bucket owner", "READ"]],
  "bucket-owner-full-control": [["bucket owner", "FULL_CONTROL"]],
} as const satisfies Record<string, readonly (readonly ["everybody" | "users" | "bucket owner", AclPermission])[]>;

export type CannedAcl = keyof typeof CANNED_GRANTS;

export const CANNED_ACLS = Object.keys(CANNED_GRANTS) as CannedAcl[];

/** The access list in the headers of a request: a canned one by its name, or grants. */
type StatedAcl = { canned: CannedAcl } | { grants: NamedGrant[] };

const GRANT_HEADER = "x-amz-grant-";

const PERMISSIONS: Readonly<Record<string, AclPermission>> = {
  "full-control": "FULL_CONTROL",
  read: "READ",
  write: "WRITE",
  "read-acp": "READ_ACP",
  "write-acp": "WRITE_ACP",
};

/**
 * Reads x-amz-acl and the x-amz-grant- headers, null where there is none.
 *
 * @throws {StoreError} InvalidArgument for an unknown list or header, InvalidRequest for both kinds at once,
 *   UnresolvableGrantByEmailAddress, MalformedACLError for too many grants
 */
export function statedAcl(headers: Headers): StatedAcl | null {
  const name = headers.get("x-amz-acl");
  const grants: NamedGrant[] = [];
  let hasGrants = false;
  for (const [header, value] of headers) {
    if (!header.startsWith(GRANT_HEADER)) continue;
    const word = header.slice(GRANT_HEADER.length);
    if (!Object.hasOwn(PERMISSIONS, word)) throw new StoreError("InvalidArgument", `The header ${header} is not valid`);
    hasGrants = true;
    for (const grantee of grantees(header, value)) grants.push({ grantee, permission: PERMISSIONS[word] });
  }
  if (grants.length > MAX_GRANTS) throw tooManyGrants();
  if (name === null) return hasGrants ? { grants } : null;
  if (hasGrants) throw new StoreError("InvalidRequest", "x-amz-acl and x-amz-grant- headers do not go together");
  const canned = CANNED_ACLS.find((known) => known === name);
  if (!canned) throw new StoreError("InvalidArgument", `x-amz-acl must be one of ${CANNED_ACLS.join(", ")}`);
  return { canned };
}

/** One grantee of a list such as `id="…", uri="…"`; clients leave the quotes out, too. */
const GRANTEE = /[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(?:"([^"]*)"|([^",\s]+))[ \t]*(,|$)/y;

function grantees(header: string, value: string): NamedGrantee[] {
  const found: NamedGrantee[] = [];
  GRANTEE.lastIndex = 0;
  for (let more = true; more;) {
    const match = GRANTEE.exec(value);
    if (!match) throw new StoreError("InvalidArgument", `The header ${header} must be a list of id="…" and uri="…"`);
    const [, kind, quoted, plain, separator] = match;
    found.push(granteeOf(header, kind.toLowerCase(), quoted ?? plain));
    more = separator === ",";
  }
  return found;
}

function granteeOf(header: string, kind: string, value: string): NamedGrantee {
  if (kind === "id") return { id: value };
  if (kind === "uri") return { uri: value };
  if (kind === "emailaddress") throw new StoreError("UnresolvableGrantByEmailAddress");
  throw new StoreError("InvalidArgument", `The header ${header} may name an id or a uri`);
}

/** The grantee of a grant on the wire: a user by GUID, or a group by URI. */
type NamedGrantee = { id: string } | { uri: string };

/** A grant as it is on the wire, in a header or in XML. */
export interface NamedGrant {
  grantee: NamedGrantee;
  permission: AclPermission;
}

/** The error for an access list with more grants than S3 allows. */
function tooManyGrants(): StoreError {
  return new StoreError("MalformedACLError", `An access list may have ${MAX_GRANTS} grants at most`);
}

/** A grant for display: users with their names. */
type DisplayedGrant = NamedGrant & { displayName?: string };

/** The inside of an AccessControlPolicy element. */
export function aclContent(
  owner: { readonly id: string; readonly displayName: string } | null,
  grants: readonly DisplayedGrant[],
): string {
  const ownerXml = owner ? `<Owner>${element("ID", owner.id)}${element("DisplayName", owner.displayName)}</Owner>` : "";
  return `${ownerXml}<AccessControlList>${grants.map(grantElement).join("")}</AccessControlList>`;
}

/**
 * Reads an AccessControlPolicy element: the GUID of the owner that it names, if it names one, and its grants. The
 * element that names a grantee determines its type; `xsi:type` repeats it and is ignored.
 *
 * @throws {StoreError} MalformedACLError, UnresolvableGrantByEmailAddress
 */
export function readAclXml(policy: XmlElement): { owner: string | null; grants: NamedGrant[] } {
  const owner = only(policy, "Owner");
  const list = only(policy, "AccessControlList");
  if (!list) throw malformed("AccessControlPolicy must hold an AccessControlList");
  if (list.children.length > MAX_GRANTS) throw tooManyGrants();
  return { owner: owner && ownerId(owner), grants: list.children.map(readGrant) };
}

function ownerId(owner: XmlElement): string {
  const id = text(owner, "ID");
  if (id === null) throw malformed("Owner must have an ID");
  return id;
}

function readGrant(grant: XmlElement): NamedGrant {
  const grantee = only(grant, "Grantee");
  const permission = text(grant, "Permission");
  if (grant.name !== "Grant" || !grantee || permission === null) {
    throw malformed("An AccessControlList must hold Grant elements with Grantee and Permission");
  }
  const known = ACL_PERMISSIONS.find((one) => one === permission);
  if (!known) throw malformed("Permission is not one of S3's");
  return { grantee: readGrantee(grantee), permission: known };
}

function readGrantee(grantee: XmlElement): NamedGrantee {
  const [id, uri, email] = ["ID", "URI", "EmailAddress"].map((name) => text(grantee, name));
  if ([id, uri, email].filter((one) => one !== null).length !== 1) {
    throw malformed("A Grantee must have an ID or a URI");
  }
  if (email !== null) throw new StoreError("UnresolvableGrantByEmailAddress");
  return id !== null ? { id } : { uri: uri ?? "" };
}

function grantElement({ grantee, permission, displayName }: DisplayedGrant): string {
  const [type, content] = "id" in grantee
    ? ["CanonicalUser", element("ID", grantee.id) + (displayName ? element("DisplayName", displayName) : "")]
    : ["Group", element("URI", grantee.uri)];
  return `<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}">${content}</Grantee>` +
    `${element("Permission", permission)}</Grant>`;
}

function only(parent: XmlElement, name: string): XmlElement | null {
  const found = parent.children.filter((child) => child.name === name);
  if (found.length > 1) throw malformed(`${name} may occur once`);
  return found[0] ?? null;
}

function text(parent: XmlElement, name: string): string | null {
  try {
    return childText(parent, name)?.trim() ?? null;
  } catch {
    throw malformed(`${name} must be one text`);
  }
}

function malformed(what: string): StoreError {
  return new StoreError("MalformedACLError", what);
}
