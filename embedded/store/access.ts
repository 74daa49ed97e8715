import { LRUCache } from "lru-cache";
import { BlockList, isIP } from "node:net";

/** Data access permissions in their order on the wire; each is one bit of a mask in the index. */
export const PERMISSIONS = [
  "BROWSE",
  "READ",
  "WRITE",
  "DELETE",
  "PURGE",
  "SEARCH",
  "PRIVILEGED",
  "READ_ACL",
  "WRITE_ACL",
  "CHOWN",
] as const;

export type Permission = typeof PERMISSIONS[number];

/** Permissions of the creator of a bucket. */
export const OWNER_PERMISSIONS: readonly Permission[] = ["BROWSE", "READ", "WRITE", "DELETE", "READ_ACL", "WRITE_ACL"];

/** The permissions that a permission includes. */
const IMPLIED: Partial<Record<Permission, readonly Permission[]>> = {
  PURGE: ["DELETE"],
  READ: ["BROWSE"],
  SEARCH: ["BROWSE", "READ"],
};

/** The mask of a list of permissions with those they imply. */
export function permissionMask(permissions: readonly Permission[]): number {
  let mask = 0;
  for (const permission of permissions) {
    mask |= bit(permission);
    for (const implied of IMPLIED[permission] ?? []) mask |= bit(implied);
  }
  return mask;
}

/** The mask of just these permissions. */
function permissionBits(permissions: readonly Permission[]): number {
  return permissions.reduce((mask, permission) => mask | bit(permission), 0);
}

/** The permissions of a mask, in their order. */
export function permissionsOf(mask: number): Permission[] {
  return PERMISSIONS.filter((permission) => mask & bit(permission));
}

/** Whether a mask holds a permission. */
export function permits(mask: number, permission: Permission): boolean {
  return (mask & bit(permission)) !== 0;
}

function bit(permission: Permission): number {
  return 1 << PERMISSIONS.indexOf(permission);
}

/** Which S3 requests may reach a bucket: none, signed ones only, or all. */
export type S3Access = "none" | "signed" | "all";

/** The index stores positions in this list. */
export const S3_ACCESS: readonly S3Access[] = ["none", "signed", "all"];

/** The S3 part of a namespace's settings of the protocol HTTP (management API, protocols/http). */
export function s3AccessOf(document: Readonly<Record<string, unknown>>): S3Access {
  if (document.hs3Enabled === false) return "none";
  return document.hs3RequiresAuthentication === true ? "signed" : "all";
}

/** The switches of a tenant or a namespace (management API, permissions), and the permissions that each allows. */
const MASKED = {
  DELETE: ["DELETE"],
  PRIVILEGED: ["PRIVILEGED"],
  PURGE: ["PURGE"],
  READ: ["BROWSE", "READ", "READ_ACL"],
  SEARCH: ["SEARCH"],
  WRITE: ["WRITE", "WRITE_ACL"],
} as const satisfies Record<string, readonly Permission[]>;

/** The names of a mask, all of which are allowed where nothing was set. */
export const MASK_NAMES = Object.keys(MASKED) as (keyof typeof MASKED)[];

/** The other form of the document: a member for each permission, true or false. */
export const MASK_FLAGS: Readonly<Record<string, readonly Permission[]>> = {
  readAllowed: ["BROWSE", "READ"],
  writeAllowed: ["WRITE"],
  deleteAllowed: ["DELETE"],
  purgeAllowed: ["PURGE"],
  searchAllowed: ["SEARCH"],
  privilegedAllowed: ["PRIVILEGED"],
  readAclAllowed: ["READ_ACL"],
  writeAclAllowed: ["WRITE_ACL"],
};

/** The mask of a permissions document: -1 without the permissions that it does not name or that it denies. */
export function maskOf(document: Readonly<Record<string, unknown>>): number {
  let mask = -1;
  const { permission } = document;
  if (Array.isArray(permission)) {
    for (const name of MASK_NAMES) if (!permission.includes(name)) mask &= ~permissionBits(MASKED[name]);
  }
  for (const [flag, permissions] of Object.entries(MASK_FLAGS)) {
    if (document[flag] === false) mask &= ~permissionBits(permissions);
  }
  return mask;
}

/** The sender of a request, for the checks of its access. */
export interface Requester {
  /** Null for a request without any signature. */
  readonly user: { readonly id: number; readonly guid: string } | null;
  /** The mask of the data access permissions on the bucket: the user's own, and those of its groups. */
  readonly dataAccess: number;
  /** The GUIDs of the groups that the user is in. Read only where an access list names a group. */
  readonly groups: () => readonly string[];
}

/** The owner of a bucket or an object, and its access list where one was set. */
export interface Owned {
  readonly owner: number | null;
  readonly acl: Acl | null;
}

/** Whether a namespace has no access lists, ignores them, or enforces them. */
type AclsUsage = "none" | "ignored" | "enforced";

/** Reads a namespace's setting; enforced by default. */
export function aclsUsageOf(record: Readonly<Record<string, unknown>>): AclsUsage {
  if (record.aclsUsage === "NOT_ENABLED") return "none";
  return record.aclsUsage === "NOT_ENFORCED" ? "ignored" : "enforced";
}

/**
 * The mask of what a requester may do in a bucket. As in S3, the bucket's access list allows to list it (READ) and to
 * write and delete in it (WRITE), but not to read its objects: that takes each object's own list, or the data access
 * permissions. The owner may always read and write the list.
 *
 * Grants of the list to the owner add nothing: an owner has the data access permissions that came with the bucket, and
 * the management API may deliberately take them away.
 */
export function bucketMask(requester: Requester, bucket: Owned, usage: AclsUsage): number {
  const isOwner = requester.user !== null && requester.user.id === bucket.owner;
  const granted = usage === "enforced" ? grantedMask(requester, bucket.acl ?? [], ON_BUCKET, isOwner) : 0;
  return requester.dataAccess | granted | (isOwner ? OWN_LIST : 0);
}

/**
 * The mask of what a requester may do with an object, beside what the bucket allows for all of its objects. The writer
 * of an object has full control until its access list says otherwise, and may always read and write the list.
 */
export function objectMask(requester: Requester, object: Owned, usage: AclsUsage): number {
  const isOwner = requester.user !== null && requester.user.id === object.owner;
  const acl = object.acl ?? defaultAcl(isOwner && requester.user ? requester.user.guid : null);
  const granted = usage === "enforced" ? grantedMask(requester, acl, ON_OBJECT, false) : 0;
  return requester.dataAccess | granted | (isOwner ? OWN_LIST : 0);
}

type Meaning = Readonly<Record<AclPermission, number>>;

const OWN_LIST = permissionBits(["READ_ACL", "WRITE_ACL"]);

const ON_BUCKET = meaning({ READ: ["BROWSE"], WRITE: ["WRITE", "DELETE"] });

/** WRITE means nothing on an object: writing over it and deleting it are writes to the bucket. */
const ON_OBJECT = meaning({ READ: ["READ"], WRITE: [] });

function meaning({ READ, WRITE }: { READ: readonly Permission[]; WRITE: readonly Permission[] }): Meaning {
  return {
    FULL_CONTROL: permissionBits([...READ, ...WRITE]) | OWN_LIST,
    READ: permissionBits(READ),
    WRITE: permissionBits(WRITE),
    READ_ACP: permissionBits(["READ_ACL"]),
    WRITE_ACP: permissionBits(["WRITE_ACL"]),
  };
}

function grantedMask(requester: Requester, acl: Acl, meaning: Meaning, withoutOwn: boolean): number {
  let mask = 0;
  for (const grant of acl) if (isFor(grant, requester, withoutOwn)) mask |= meaning[grant.permission];
  return mask;
}

function isFor({ grantee }: AclGrant, { user, groups }: Requester, withoutOwn: boolean): boolean {
  if (grantee === "everybody") return true;
  if (user === null) return false;
  if (grantee === "users") return true;
  return "user" in grantee ? !withoutOwn && grantee.user === user.guid : groups().includes(grantee.group);
}

/** The permissions that an access list grants (S3 API, access control lists). */
export const ACL_PERMISSIONS = ["FULL_CONTROL", "READ", "WRITE", "READ_ACP", "WRITE_ACP"] as const;

export type AclPermission = typeof ACL_PERMISSIONS[number];

/** Most grants of one access list (S3 API, access control lists). */
export const MAX_GRANTS = 100;

/**
 * The grantee of a grant: a user or the members of a group by their GUIDs, all users (anonymous requests included), or
 * every user of the tenant.
 */
export type Grantee = { user: string } | { group: string } | "everybody" | "users";

export interface AclGrant {
  grantee: Grantee;
  permission: AclPermission;
}

/** The grants of a bucket or a version. GUIDs are never reused, so those of deleted accounts grant nothing. */
export type Acl = readonly AclGrant[];

/** Parses the result of {@link serializeAcl}; null where none was ever set. */
export function parseAcl(stored: string | null): Acl | null {
  return stored === null ? null : JSON.parse(stored);
}

/** An access list as the index stores it. */
export function serializeAcl(acl: Acl): string {
  return JSON.stringify(acl);
}

/** The access list of what has none: the owner has full control. */
export function defaultAcl(owner: string | null): Acl {
  return owner === null ? [] : [{ grantee: { user: owner }, permission: "FULL_CONTROL" }];
}

/**
 * The access list of a bucket after a change of its owner: grants to the former owner become grants to the new one, or
 * are removed where there is none. Otherwise the former owner would keep its access unnoticed.
 */
export function aclForNewOwner(acl: Acl, before: string, next: string | null): Acl {
  return acl.flatMap((grant) => {
    if (typeof grant.grantee === "string" || !("user" in grant.grantee) || grant.grantee.user !== before) return grant;
    return next === null ? [] : { ...grant, grantee: { user: next } };
  });
}

/** Whether requests from an address are allowed. */
type AddressRules = (address: string) => boolean;

/**
 * Reads `ipSettings` (management API), which were checked when they were set. `allowIfInBothLists` decides over
 * addresses that are in both lists or in neither; it also admits every address while the list of denied ones is empty.
 *
 * @param text JSON; null where nothing was set, which admits every address
 */
export function addressRules(text: string | null): AddressRules {
  return text === null ? () => true : parsedRules.memo(text);
}

/** How many different settings are cached in parsed form. */
const CACHE_LIMIT = 50;

const parsedRules = new LRUCache<string, AddressRules>({
  max: CACHE_LIMIT,
  memoMethod: (text) => {
    const { allowAddresses, denyAddresses, allowIfInBothLists }: IpSettings = JSON.parse(text);
    const allowed = blockList(allowAddresses?.ipAddress ?? [EVERY_ADDRESS]);
    const denied = blockList(denyAddresses?.ipAddress ?? []);
    return (address) => {
      // Sockets of both versions name IPv4 clients so; no block of IPv6 means them.
      const plain = withoutZone(address).replace(/^::ffff:(?=[\d.]+$)/i, "");
      const [isAllowed, isDenied] = [allowed, denied].map((list) => list.check(plain, familyOf(plain)));
      return allowIfInBothLists === false ? isAllowed && !isDenied : isAllowed || !isDenied;
    };
  },
});

/** The block that is allowed where nothing else was set. */
export const EVERY_ADDRESS = "0.0.0.0/0";

/** The stored form, with the lists in the wrapping of the management API; an absent list was never set. */
interface IpSettings {
  readonly allowAddresses?: { readonly ipAddress?: readonly string[] };
  readonly denyAddresses?: { readonly ipAddress?: readonly string[] };
  readonly allowIfInBothLists?: boolean;
}

/**
 * The addresses of a rule: one, a CIDR block, or an address with a mask such as `10.0.0.0/255.0.0.0`. Null for any other
 * text, and for a mask with gaps.
 */
export function addressBlock(rule: string): { readonly address: string; readonly prefix: number } | null {
  const [address, mask, ...rest] = rule.trim().split("/");
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  let prefix = bits;
  if (mask !== undefined) prefix = /^\d{1,3}$/.test(mask) ? Number(mask) : isIP(mask) === version ? onesOf(mask) : NaN;
  return version !== 0 && rest.length === 0 && prefix <= bits ? { address, prefix } : null;
}

/** The number of leading ones of a mask; NaN where zeros are between them. */
function onesOf(mask: string): number {
  const [groups, radix, width] = mask.includes(":")
    ? [mask.replace(/::[0:]*$/, "").split(":"), 16, 16]
    : [mask.split("."), 10, 8];
  const bits = groups.map((group) => parseInt(group || "0", radix).toString(2).padStart(width, "0")).join("");
  return /^1*0*$/.test(bits) ? bits.replaceAll("0", "").length : NaN;
}

/** Entries are rules, or several of them with commas. The block of all IPv4 addresses matches IPv6 as well. */
function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const rule of entries.flatMap((entry) => entry.split(","))) {
    const block = addressBlock(rule);
    if (!block) throw new Error(`the address rule ${rule} is not valid: set ipSettings of the namespace again`);
    const family = familyOf(block.address);
    list.addSubnet(withoutZone(block.address), block.prefix, family);
    if (family === "ipv4" && block.prefix === 0) list.addSubnet("::", 0, "ipv6");
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

/** The index of a network interface is no part of the address. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, "");
}
