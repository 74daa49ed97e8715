import type { Caller, S3Keys, Verdict } from "@/lib/auth/store_credentials.ts";
import { UpstreamError } from "@/lib/http/upstream/upstream_error.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { S3Failure } from "./errors.ts";
import { EMPTY_PAYLOAD, encodeQuery, hostOf, type QueryPairs, s3Path, signHeaders } from "./signer.ts";
import { rejectsShortBodies, type StoreKind, storeKind } from "./store_kind.ts";

/** Statuses of a store that does not implement an operation. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([405, 501]);

/**
 * Checks that the store accepts the caller's signature, by a GET that needs no bucket: a response to HEAD has no error
 * code. A caller who may not list buckets passes, since only the signature counts. So does every caller of a store without
 * such a list.
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
  const response = await probe(s3, keys, null, "GET", "/");
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
  const response = await probe(s3, keys, tenant, "HEAD", s3Path(bucket));
  if (response === "unreachable" || response === "unconfigured") return response;
  return response.status === 404 ? "bucket missing" : "reachable";
}

/** What a generic store says of itself. */
interface ProbedStore {
  readonly kind: StoreKind;
  /** Whether it accepts uploads in parts, as far as it says so without a bucket. */
  readonly hasParts: boolean;
}

/**
 * Asks a generic store what it is. One that may truncate a body is asked for an upload in parts too, in a bucket that does
 * not exist.
 *
 * @param keys null: the requests are not signed
 * @param declared its kind where its responses do not name one
 * @returns a function that resolves with null while the store does not respond, and then asks again
 */
export function storeProbe(s3: S3, keys: S3Keys | null, declared: StoreKind): () => Promise<ProbedStore | null> {
  let known: Promise<ProbedStore | null> | null = null;
  const ask = async () => {
    const named = await statusAndKind(probe(s3, keys, null, "GET", "/"));
    if (named === null) return null;
    const kind = named.kind === "unknown" ? declared : named.kind;
    if (rejectsShortBodies(kind, false)) return { kind, hasParts: true };
    const path = s3Path(`stackroom-probe-${crypto.randomUUID()}`, "probe");
    const upload = await statusAndKind(probe(s3, keys, null, "POST", path, [["uploads", ""]]));
    return upload && { kind, hasParts: !UNAVAILABLE_STATUSES.has(upload.status) };
  };
  return () =>
    known ??= ask().then((found) => {
      if (found === null) known = null;
      return found;
    });
}

/** Null where it is no response of the store: a proxy responds 500 to 504 while the store is away. */
async function statusAndKind(sent: ReturnType<typeof probe>): Promise<{ status: number; kind: StoreKind } | null> {
  const response = await sent;
  if (typeof response === "string") return null;
  const { status, headers } = response;
  return status < 500 || UNAVAILABLE_STATUSES.has(status) ? { status, kind: storeKind(headers.get("server")) } : null;
}

/** The kind of a store, by an unsigned request; null when it does not respond. */
export async function probedKind(s3: S3, tenant: string | null): Promise<StoreKind | null> {
  return (await statusAndKind(probe(s3, null, tenant, "GET", "/")))?.kind ?? null;
}

/** One small request, whatever the response. */
async function probe(
  s3: S3,
  keys: S3Keys | null,
  tenant: string | null,
  method: "GET" | "HEAD" | "POST",
  path: string,
  query: QueryPairs = [],
): Promise<Response | "unreachable" | "unconfigured"> {
  const address = await s3.addresses.s3(tenant);
  if (!address) return "unconfigured";
  const headers: Record<string, string> = {};
  const request = { method, host: hostOf(address.endpoint), path, query };
  if (keys) signHeaders(request, headers, EMPTY_PAYLOAD, keys, s3.region, s3.now());
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
