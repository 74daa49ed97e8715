import type { Caller } from "@/lib/auth/store_credentials.ts";
import { UpstreamError } from "@/lib/http/upstream/upstream_error.ts";
import { callS3ForHeaders, type S3, s3Address } from "./client.ts";
import { type ConditionSupport, type ConditionTable, knownTable } from "./condition_table.ts";
import { copySource } from "./copy.ts";
import { deleteBatch } from "./delete_objects.ts";
import { S3Failure } from "./errors.ts";
import { listVersions, MAX_KEYS } from "./listing.ts";
import { abortUpload, completeUpload, createUpload, sendPart } from "./multipart.ts";
import { type ObjectRef, sendDelete } from "./objects.ts";

/**
 * Finds out once which conditions a generic store holds: by its header `Server`, else by {@link probeConditions} with the
 * first caller who uses one.
 */
export function genericConditions(s3: S3): ConditionSupport {
  let known: Promise<ConditionTable | null> | null = null;
  const find = async (caller: Caller, place: ObjectRef) =>
    knownTable(await serverName(s3, caller)) ?? await probeConditions(s3, caller, place);
  return async (caller, place) => {
    // The answer is for all callers, so one who leaves does not end the search.
    known ??= find({ ...caller, signal: undefined }, place);
    const search = known;
    const table = await search.catch(() => null);
    if (table === null && known === search) known = null;
    return table;
  };
}

const SERVER_TIMEOUT_MS = 5000;

async function serverName(s3: S3, caller: Caller): Promise<string | null> {
  const { endpoint } = await s3Address(s3, caller);
  try {
    const response = await s3.upstream.send({
      method: "GET",
      operation: "ProbeEndpoint",
      origin: endpoint,
      target: "/",
      headers: {},
      timeoutMs: SERVER_TIMEOUT_MS,
    });
    await response.body?.cancel();
    return response.headers.get("server");
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
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
      const part = await sendPart(s3, caller, upload, 1, { body: new Uint8Array([10]), lengthBytes: 1 });
      await completeUpload(s3, caller, upload, [part], new Headers(headers));
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
    await discard(s3, caller, bucket, prefix, [present, other, absent]);
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

async function discard(s3: S3, caller: Caller, bucket: string, prefix: string, refs: readonly ObjectRef[]) {
  const versions = async () => {
    const { versions, delete_markers } = await listVersions(s3, caller, bucket, { prefix, maxKeys: MAX_KEYS });
    return [...versions, ...delete_markers].map(({ Key, VersionId }) => ({ key: Key, versionId: VersionId }));
  };
  // A store without versions has no such list.
  const found = await versions().catch(() => refs.map(({ key }) => ({ key })));
  if (found.length > 0) await deleteBatch(s3, caller, bucket, found).catch(() => {});
}
