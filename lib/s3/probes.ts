import type { Caller, S3Keys, Verdict } from "@/lib/auth/store_credentials.ts";
import { UpstreamError } from "@/lib/http/upstream.ts";
import {
  callS3ForHeaders,
  EMPTY_PAYLOAD,
  encodeQuery,
  hostOf,
  type S3,
  type S3Call,
  s3Path,
  signHeaders,
} from "./s3_client.ts";
import { copySource } from "./copy.ts";
import { deleteBatch, type Deletion } from "./delete_objects.ts";
import { S3Failure } from "./s3_errors.ts";
import { listVersions, MAX_KEYS } from "./listing.ts";
import { abortUpload, completeUpload, createUpload, sendPart } from "./multipart.ts";
import { type ObjectRef, sendDelete } from "./objects.ts";
import {
  type ConditionSupport,
  type ConditionTable,
  knownTable,
  rejectsShortBodies,
  type StoreKind,
  storeKind,
} from "./store_kind.ts";

/** Statuses of a store that does not implement an operation. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([405, 501]);

/**
 * Checks that the store accepts the caller's signature, with a GET that needs no bucket: a response to HEAD has no error
 * code. Only the signature counts, so a caller who may not list buckets passes, and every caller of a store without such a
 * list.
 *
 * @throws HttpError 401 when the store rejects the signature; as {@link callS3ForHeaders} when its response does not tell
 */
export async function proveCredentials(s3: S3, caller: Caller): Promise<void> {
  let last: Verdict | undefined;
  const onVerdict = (verdict: Verdict) => {
    last = verdict;
    caller.onVerdict?.(verdict);
  };
  try {
    await callS3ForHeaders(s3, { ...caller, onVerdict }, {
      operation: "ListBuckets",
      method: "GET",
      resource: "credentials",
    });
  } catch (error) {
    const isUnavailable = error instanceof S3Failure && UNAVAILABLE_STATUSES.has(error.storeStatus);
    if (last !== "accepted" && !isUnavailable) throw error;
  }
}

const PROBE_TIMEOUT_MS = 5000;

/**
 * Whether a generic store responds: with configured keys it must list their buckets, without them any HTTP response is
 * enough; `unconfigured` when there is no endpoint.
 */
export async function s3Reachable(
  s3: S3,
  keys: S3Keys | null,
): Promise<"reachable" | "unreachable" | "unconfigured"> {
  const response = await probe(s3, keys, null);
  if (response === "unreachable" || response === "unconfigured") return response;
  return response.ok || !keys ? "reachable" : "unreachable";
}

/**
 * Whether a store responds and does not report a bucket as missing. Without keys, or with keys that may not see the bucket,
 * most stores reject the request either way: then the bucket counts as present.
 */
export async function bucketReachable(
  s3: S3,
  keys: S3Keys | null,
  tenant: string | null,
  bucket: string,
): Promise<"reachable" | "bucket missing" | "unreachable" | "unconfigured"> {
  const response = await probe(s3, keys, tenant, { method: "HEAD", path: s3Path(bucket) });
  if (response === "unreachable" || response === "unconfigured") return response;
  return response.status === 404 ? "bucket missing" : "reachable";
}

/** Properties of a generic store, by its own responses. */
interface ProbedStore {
  readonly kind: StoreKind;
  /** Whether it accepts uploads in parts, as far as it says so without a bucket. */
  readonly hasParts: boolean;
}

/**
 * Probes the kind of a generic store. For a store that may truncate a body, also probes for uploads in parts, with a bucket
 * that does not exist.
 *
 * @param keys null: the requests are not signed
 * @param declared its kind where its responses do not name one
 * @returns a function that resolves with null while the store does not respond, and then asks again
 */
export function storeProbe(s3: S3, keys: S3Keys | null, declared: StoreKind): () => Promise<ProbedStore | null> {
  return untilKnown(async () => {
    const named = await statusAndKind(probe(s3, keys, null));
    if (named === null) return null;
    const kind = named.kind === "unknown" ? declared : named.kind;
    if (rejectsShortBodies(kind, false)) return { kind, hasParts: true };
    const path = s3Path(`stackroom-probe-${crypto.randomUUID()}`, "probe");
    const upload = await statusAndKind(probe(s3, keys, null, { method: "POST", path, query: [["uploads", ""]] }));
    return upload && { kind, hasParts: !UNAVAILABLE_STATUSES.has(upload.status) };
  });
}

/** Caches the first result other than null, for all arguments. A call that fails returns null. */
function untilKnown<A extends readonly unknown[], T>(ask: (...args: A) => Promise<T | null>) {
  let known: Promise<T | null> | null = null;
  return (...args: A): Promise<T | null> =>
    known ??= ask(...args).catch(() => null).then((found) => {
      if (found === null) known = null;
      return found;
    });
}

/** Null if it is no response of the store: a proxy responds with 500 to 504 while the store is down. */
async function statusAndKind(sent: ReturnType<typeof probe>): Promise<{ status: number; kind: StoreKind } | null> {
  const response = await sent;
  if (typeof response === "string") return null;
  const { status, headers } = response;
  return status < 500 || UNAVAILABLE_STATUSES.has(status) ? { status, kind: storeKind(headers.get("server")) } : null;
}

/** The kind of a store, by an unsigned request; null when it does not respond. */
export async function probedKind(s3: S3, tenant: string | null): Promise<StoreKind | null> {
  return (await statusAndKind(probe(s3, null, tenant)))?.kind ?? null;
}

/** Sends one small request. */
async function probe(
  s3: S3,
  keys: S3Keys | null,
  tenant: string | null,
  { method = "GET", path = "/", query = [] }: Partial<Pick<S3Call, "method" | "query"> & { readonly path: string }> =
    {},
): Promise<Response | "unreachable" | "unconfigured"> {
  const address = await s3.addresses.s3(tenant);
  if (!address) return "unconfigured";
  const headers: Record<string, string> = {};
  const request = { method, host: hostOf(address.endpoint), path, query };
  if (keys) signHeaders(request, headers, EMPTY_PAYLOAD, { keys, region: s3.region, now: s3.now() });
  try {
    const response = await s3.upstream.send({
      method,
      operation: "ProbeEndpoint",
      origin: address.endpoint,
      target: query.length > 0 ? `${path}?${encodeQuery(query)}` : path,
      headers,
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    await response.body?.cancel();
    return response;
  } catch (error) {
    if (error instanceof UpstreamError) return "unreachable";
    throw error;
  }
}

/**
 * Finds out once which conditions a generic store holds: by its header `Server`, else by {@link probeConditions} with the
 * first caller who uses one.
 */
export function genericConditions(s3: S3): ConditionSupport {
  return untilKnown(async (caller, place) => {
    const table = knownTable(await probedKind(s3, caller.tenant));
    // The result is for all callers, so a caller that disconnects does not abort the probe.
    return table ?? await probeConditions(s3, { ...caller, signal: undefined }, place);
  });
}

const OTHER_ETAG = '"00000000000000000000000000000000"';

/**
 * Tries each condition with two empty objects next to an object, which it deletes again with all their versions. A caller
 * who may not delete there tries nothing.
 *
 * @throws HttpError where the store's responses do not tell, such as 403 and 5xx
 */
async function probeConditions(s3: S3, caller: Caller, { bucket, key }: ObjectRef): Promise<ConditionTable> {
  const prefix = `${key.slice(0, key.lastIndexOf("/") + 1)}.stackroom-probe-${crypto.randomUUID()}`;
  const [present, other, absent] = ["a", "b", "c"].map((name) => ({ bucket, key: `${prefix}-${name}` }));
  let isAbsentHeld = false;
  const put = (ref: ObjectRef, headers = {}) =>
    callS3ForHeaders(s3, caller, { operation: "PutObject", method: "PUT", ...ref, headers, lengthBytes: 0 });
  const copy = (headers: Record<string, string>) =>
    put(other, { "x-amz-copy-source": copySource(present), ...headers });
  const remove = (ref: ObjectRef, headers = {}) => sendDelete(s3, caller, ref, headers);
  const complete = async (headers: Record<string, string>) => {
    const upload = await createUpload(s3, caller, other);
    try {
      const part = await sendPart(s3, caller, upload, { number: 1, body: new Uint8Array([10]), lengthBytes: 1 });
      await completeUpload(s3, caller, upload, { parts: [part], conditions: headers });
    } catch (error) {
      await abortUpload(s3, caller, upload);
      throw error;
    }
  };
  const both = async (write: (headers: Record<string, string>) => Promise<unknown>) => [
    ...isAbsentHeld && await isHeld(write({ "if-match": OTHER_ETAG })) ? ["if-match"] as const : [],
    ...await isHeld(write({ "if-none-match": "*" })) ? ["if-none-match"] as const : [],
  ];
  await remove(absent);
  try {
    await put(present);
    await put(other);
    // Some stores create an object that is absent in spite of an If-Match.
    isAbsentHeld = await isHeld(put(absent, { "if-match": OTHER_ETAG }));
    const table = {
      put: await both((headers) => put(other, headers)),
      complete: await both(complete),
      copy: await both(copy),
      copySource: await isHeld(copy({ "x-amz-copy-source-if-match": OTHER_ETAG })),
    };
    const remains = await isHeld(remove(present, { "if-match": OTHER_ETAG }));
    return { ...table, delete: remains ? ["if-match"] : [] };
  } finally {
    // A store without versions has no such list.
    const found = await versionsUnder(s3, caller, bucket, prefix).catch(() => [present, other, absent]);
    if (found.length > 0) await deleteBatch(s3, caller, bucket, found).catch(() => {});
  }
}

/** Whether a write was rejected by its condition, which does not hold. @throws HttpError where the response does not tell */
async function isHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return false;
  } catch (error) {
    if (!(error instanceof S3Failure)) throw error;
    // 404: an If-Match where there is no object.
    if (error.status === 412 || error.status === 404) return true;
    if (error.status === 400 || error.status === 501) return false;
    throw error;
  }
}

async function versionsUnder(s3: S3, caller: Caller, bucket: string, prefix: string): Promise<Deletion[]> {
  const { versions, delete_markers } = await listVersions(s3, caller, bucket, { prefix, maxKeys: MAX_KEYS });
  return [...versions, ...delete_markers].map(({ Key, VersionId }) => ({ key: Key, versionId: VersionId }));
}
