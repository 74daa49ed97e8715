import { createHash, randomBytes } from "node:crypto";
import {
  aclsUsageOf,
  addressRules,
  bucketMask,
  objectMask,
  type Permission,
  permits,
  type Requester,
} from "@/embedded/store/access.ts";
import type { ChangeOrigin } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { isEnabled, type Tenant, type User } from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import type { StoredObject } from "@/embedded/store/stored_objects.ts";
import type { S3Request } from "./s3_request.ts";
import { signatureV2Holds, statedSignatureV2 } from "./sigv2.ts";
import { ChunkSignatures, matchSignature, statedSignature } from "./sigv4.ts";

/** The framing of a chunked body. */
export interface ChunkedFraming {
  /** Checks the signatures of the chunks; null where they have none. */
  signatures: ChunkSignatures | null;
  hasTrailer: boolean;
}

/** The sender of a request, and the form in which its signature covers the body. */
export interface Caller {
  /** Null for a request without any signature. */
  user: User | null;
  /** The tenant that was called. */
  tenant: number;
  /** The IP address of the client's end of the connection. */
  address: string;
  /** A hexadecimal SHA-256 of the body, or null where the body is not under the signature. */
  payloadSha256: string | null;
  /** The aws-chunked framing of the body; null where the body has none. */
  chunked: ChunkedFraming | null;
  /** Headers that were sent on several lines, where the signature shows it. */
  repeated: readonly string[];
}

/** The secret of an absent account; no password has it. */
const NO_SECRET = randomBytes(16).toString("hex");
const SHA256 = /^[0-9a-f]{64}$/;
const SHA256_OF_NOTHING = createHash("sha256").digest("hex");

/**
 * Checks the signature of a request against the users of a tenant. A request without a signature is anonymous; one with
 * an incomplete signature is rejected.
 *
 * @param client recorded with a failed login
 * @throws {StoreError}
 */
export function authenticate(
  request: S3Request,
  { accounts, logins, loginFailed, now }: Pick<StoreContext, "accounts" | "logins" | "loginFailed" | "now">,
  tenant: Tenant,
  { address, client: { isByGateway, ...client } }: {
    /** The address of the connection. */
    readonly address: string;
    readonly client: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">;
  },
): Caller {
  const at = { tenant: tenant.id, address };
  const checked = (name: string | null, holds: (secret: string) => boolean) => {
    // A name that no account can have reveals nothing about existing accounts.
    if (name === null) throw new StoreError("InvalidAccessKeyId");
    const user = accounts.user(tenant.id, name);
    // Not counted as a wrong password: every presigned URL contains an access key, with which its reader could lock the
    // account. An absent account gets the same error as a wrong secret, after the same work, so that the response does
    // not reveal which accounts exist.
    if (!holds(user?.passwordMd5 ?? NO_SECRET) || !user) throw new StoreError("SignatureDoesNotMatch");
    if (!isEnabled(user) || logins.isLocked(user)) throw new StoreError("InvalidAccessKeyId");
    return user;
  };
  const userOf = (accessKey: string, holds: (secret: string) => boolean) => {
    const name = usernameOf(accessKey);
    try {
      return checked(name, holds);
    } catch (error) {
      if (isFailedLogin(error) && !isByGateway) {
        loginFailed({ ...client, tenant: tenant.name, name: name ?? "", protocol: "s3" });
      }
      throw error;
    }
  };
  const statedV2 = statedSignatureV2(request, now());
  if (statedV2) {
    const user = userOf(statedV2.accessKey, (secret) => signatureV2Holds(request, statedV2, secret));
    return { user, ...at, ...bodyBesideSignature(request) };
  }
  const stated = statedSignature(request, now());
  if (!stated) return unsigned(request, at);
  requirePayloadWord(stated.payload);
  let repeated: readonly string[] | null = [];
  const user = userOf(stated.accessKey, (secret) => (repeated = matchSignature(request, stated, secret)) !== null);
  const by = { user, ...at, repeated };
  if (SHA256.test(stated.payload)) {
    // An absent body is never read, so the difference has to be detected here.
    if (request.takeBody === null && stated.payload !== SHA256_OF_NOTHING) {
      throw new StoreError("XAmzContentSHA256Mismatch");
    }
    return { ...by, payloadSha256: stated.payload, chunked: null };
  }
  if (!Object.hasOwn(PAYLOADS, stated.payload)) {
    throw new StoreError("NotImplemented", "This way of signing the chunks of a body is not provided");
  }
  const framing = PAYLOADS[stated.payload];
  const signatures = framing?.isSigned ? new ChunkSignatures(stated, user.passwordMd5) : null;
  return { ...by, payloadSha256: null, chunked: framing && { signatures, hasTrailer: framing.hasTrailer } };
}

/** Whether an error means a failed login. */
export function isFailedLogin(error: unknown): boolean {
  return error instanceof StoreError && (error.code === "SignatureDoesNotMatch" || error.code === "InvalidAccessKeyId");
}

/** The framing of a body by its literal in the signature; null for a plain body. */
const PAYLOADS: Readonly<Record<string, { readonly isSigned: boolean; readonly hasTrailer: boolean } | null>> = {
  "UNSIGNED-PAYLOAD": null,
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER": { isSigned: false, hasTrailer: true },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": { isSigned: true, hasTrailer: false },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": { isSigned: true, hasTrailer: true },
};

function requirePayloadWord(payload: string): void {
  if (SHA256.test(payload) || payload === "UNSIGNED-PAYLOAD" || payload.startsWith("STREAMING-")) return;
  throw new StoreError("InvalidArgument", "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-…, or a SHA-256");
}

/** The parameters of a signature in the query, of either version of S3's signatures. */
const OF_A_SIGNATURE =
  /^(?:x-amz-(?:algorithm|credential|date|expires|signedheaders|signature|security-token)|awsaccesskeyid|signature|expires)$/i;

/** An unsigned request. Fragments of a signature are rejected: the sender meant to sign it. */
function unsigned(request: S3Request, at: Pick<Caller, "tenant" | "address">): Caller {
  for (const [name] of request.query) {
    if (OF_A_SIGNATURE.test(name)) throw new StoreError("AccessDenied", "The signature of the request is not complete");
    if (name.startsWith("response-")) {
      throw new StoreError("InvalidRequest", `The parameter ${name} needs a signed request`);
    }
  }
  return { user: null, ...at, ...bodyBesideSignature(request) };
}

/** The body that a request states where no signature covers it: with Version 2, or without a signature. */
function bodyBesideSignature({ headers }: S3Request): Pick<Caller, "payloadSha256" | "chunked" | "repeated"> {
  const payload = headers.get("x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD";
  if (SHA256.test(payload)) return { payloadSha256: payload, chunked: null, repeated: [] };
  const chunked = payload === "STREAMING-UNSIGNED-PAYLOAD-TRAILER" ? { signatures: null, hasTrailer: true } : null;
  if (!chunked && payload !== "UNSIGNED-PAYLOAD") {
    throw new StoreError("AccessDenied", "x-amz-content-sha256 is of a request with Signature Version 4");
  }
  return { payloadSha256: null, chunked, repeated: [] };
}

/** The user name of an access key, which is its base64; null when it is not base64 of UTF-8. */
function usernameOf(accessKey: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(accessKey), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** An operation of S3: how a request selects it among those of its level and method, and its handler. */
export interface S3Operation {
  /** The query parameter that distinguishes it, and its value where that matters. */
  readonly marker?: string;
  readonly markerValue?: string;
  /** A header that distinguishes it, such as `x-amz-copy-source`. */
  readonly header?: string;
  /** The query parameters it reads beside the marker; any other one is 501. */
  readonly parameters?: readonly string[];
  readonly handle: (call: S3Call) => Response | Promise<Response>;
}

/** An authenticated request; `bucket` and `key` are "" where its path has none. */
export interface S3Call {
  readonly store: StoreContext;
  readonly caller: Caller;
  readonly request: S3Request;
  readonly bucket: string;
  readonly key: string;
}

/** The rights of a request in the bucket that it names. */
export interface BucketAccess {
  readonly bucket: Bucket;
  readonly requester: Requester;
  /** The mask of the caller's data access permissions and its grants in the bucket's access list. */
  readonly mask: number;
}

type CallContext = { readonly store: StoreContext; readonly caller: Caller };

/**
 * The caller's rights in a bucket, possibly none.
 *
 * @throws {StoreError} NoSuchBucket
 */
export function bucketAccess({ store, caller }: CallContext, name: string): BucketAccess {
  const bucket = store.buckets.bucket(caller.tenant, name);
  if (!bucket) throw new StoreError("NoSuchBucket");
  const { user } = caller;
  if (bucket.s3Access === "none") throw new StoreError("AccessDenied", "S3 is switched off for this namespace");
  if (!addressRules(bucket.addressRules)(caller.address)) {
    throw new StoreError("AccessDenied", "The namespace is closed to the address that the request comes from");
  }
  if (bucket.s3Access === "signed" && !user) throw new StoreError("AccessDenied");
  let groups: string[] | null = null;
  const requester: Requester = {
    user,
    dataAccess: user ? store.buckets.permissions(user.id, bucket.id) & bucket.allowed : 0,
    groups: () => groups ??= user ? store.accounts.groupsOf(user.id).map(({ guid }) => guid) : [],
  };
  return { bucket, requester, mask: bucketMask(requester, bucket, aclsUsageOf(bucket.record)) & bucket.allowed };
}

/**
 * The bucket that a request names.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied without the permission
 */
export function permittedBucket(call: CallContext, name: string, permission: Permission | "any"): Bucket {
  const { bucket, mask } = bucketAccess(call, name);
  if (permission === "any" ? mask === 0 : !permits(mask, permission)) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The bucket that a request names, for its owner.
 *
 * @throws {StoreError} NoSuchBucket, or AccessDenied for others
 */
export function ownBucket(call: CallContext, name: string): Bucket {
  const bucket = permittedBucket(call, name, "any");
  if (bucket.owner !== signedUser(call.caller).id) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The same by data access permissions alone. An access list cannot grant deleting versions for good, or tags.
 */
export function bucketByDataAccess(call: CallContext, name: string, permission: Permission): Bucket {
  const { bucket, requester } = bucketAccess(call, name);
  if (!permits(requester.dataAccess, permission)) throw new StoreError("AccessDenied");
  return bucket;
}

/**
 * The object of a look-up, for a caller with the permission on it. `find` may throw {@link StoreError} for an absent
 * object; only callers that may list the bucket get that error.
 *
 * @throws {StoreError} AccessDenied
 */
export function permittedObject(
  { bucket, requester, mask }: BucketAccess,
  permission: Permission,
  find: () => StoredObject,
): StoredObject {
  let object: StoredObject;
  try {
    object = find();
  } catch (error) {
    throw error instanceof StoreError && !permits(mask, "BROWSE") ? new StoreError("AccessDenied") : error;
  }
  const allowed = objectMask(requester, object, aclsUsageOf(bucket.record)) & bucket.allowed;
  if (!permits(allowed, permission)) throw new StoreError("AccessDenied");
  return object;
}

/**
 * The user who signed a request.
 *
 * @throws {StoreError} AccessDenied for an unsigned one
 */
export function signedUser({ user }: Caller): User {
  if (!user) throw new StoreError("AccessDenied");
  return user;
}
