import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, HttpError, notFound } from "@/lib/http/errors.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import {
  ABSENT,
  CONTENT_HEADERS,
  currentHeaders,
  getTags,
  guardWrite,
  headObject,
  METADATA,
  type ObjectRef,
  type ObjectState,
  type Preconditions,
  requireConditions,
  stateOf,
  storableHeader,
  tagHeader,
  unchanged,
  unsupported,
  type VersionRef,
  type WrittenObject,
} from "./objects.ts";
import { type HeaderRecord, resourceOf, type S3, s3Path } from "./s3_client.ts";
import { ASSEMBLY_MS, MAX_PARTS, type OpenUpload, openUpload, type SentPart } from "./multipart.ts";
import { callSdk } from "./sdk.ts";
import { getVersioning } from "./buckets.ts";
import { S3Failure } from "./s3_errors.ts";

/** Largest object that S3 copies in one request, bytes (S3 API, CopyObject). */
const MAX_COPY_BYTES = 5 * 1024 ** 3;
/** Size of a copied part, bytes; larger where that would make too many of them. */
const PART_BYTES = 512 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;
const PARALLEL_PARTS = 4;
const PART_TRIES = 3;

/**
 * Copies an object, or one version of it, with its metadata and tags inside the store; above 5 GiB in parts. That upload
 * is aborted when a part fails, the source changes or the client leaves.
 *
 * @throws HttpError 404 when the source does not exist, 412 where a condition does not hold, 501 where the store would
 *   ignore it, else as {@link callSdk}
 */
export async function copyObject(
  s3: S3,
  caller: Caller,
  { source, target, ofSource = null, ofTarget = null, whereSupported = {} }: CopyOrder,
): Promise<WrittenObject> {
  const { headers } = await headObject(s3, caller, source);
  const size = Number(headers.get("content-length") ?? NaN);
  const write = size > MAX_COPY_BYTES ? "complete" : "copy";
  const guard = await guardWrite(s3, caller, target, { writes: [write], conditions: ofTarget });
  const conditions: Record<string, string> = { ...guard };
  const offered = ofTarget ? {} : whereSupported;
  // Not for a copy without conditions: finding out may cost a generic store writes.
  const isAsked = ofSource !== null || Object.keys(offered).length > 0;
  const table = isAsked ? await s3.conditions?.(caller, target) : null;
  for (const name of table?.[write] ?? []) if (name in offered) conditions[name] = offered[name];
  if (ofSource) {
    if (!table?.copySource) throw unsupported(ofSource.names);
    requireConditions(ofSource, stateOf(headers), source);
  }
  const copy = { s3, caller, source, target, conditions };
  // Each part has this condition by itself.
  if (write === "complete") return await copyInParts(copy, { size, headers });
  if (ofSource) conditions["x-amz-copy-source-if-match"] = unchanged(stateOf(headers), source)["if-match"];
  return await copyWhole(copy);
}

interface CopyOrder {
  readonly source: VersionRef;
  readonly target: ObjectRef;
  /** The caller's conditions on the source. */
  readonly ofSource?: Preconditions | null;
  /** The caller's conditions on the object that the copy replaces. */
  readonly ofTarget?: Preconditions | null;
  /** If-Match or If-None-Match of the gateway, left out if the store would ignore it. */
  readonly whereSupported?: HeaderRecord;
}

/** A copy that is under way. */
interface Copy extends Required<Pick<CopyOrder, "source" | "target">> {
  readonly s3: S3;
  readonly caller: Caller;
  /** Headers of the write. */
  readonly conditions: HeaderRecord;
}

async function copyWhole({ s3, caller, source, target, conditions }: Copy): Promise<WrittenObject> {
  const input = { CopySource: copySource(source), MetadataDirective: "COPY" } as const;
  const call = { operation: "CopyObject", ...target, headers: conditions, workMs: ASSEMBLY_MS, input } as const;
  return await callSdk(
    s3,
    caller,
    call,
    ({ CopyObjectResult }, headers) => ({ etag: CopyObjectResult?.ETag ?? null, headers }),
  );
}

/** The value of the header x-amz-copy-source. */
export function copySource({ bucket, key, versionId }: VersionRef): string {
  return s3Path(bucket, key) + (versionId === undefined ? "" : `?versionId=${encodeRfc3986(versionId)}`);
}

interface SourceHead {
  /** bytes */
  readonly size: number;
  readonly headers: Headers;
}

async function copyInParts(copy: Copy, head: SourceHead): Promise<WrittenObject> {
  const { s3, caller, source, target, conditions } = copy;
  const hasTags = Number(head.headers.get("x-amz-tagging-count")) > 0;
  await using upload = await openUpload(s3, caller, target, {
    ...copiedHeaders(head.headers),
    ...hasTags && { "x-amz-tagging": tagHeader(await getTags(s3, caller, source)) },
  });
  return await upload.complete({ parts: await copyParts(copy, upload, head), conditions });
}

async function copyParts(copy: Copy, upload: OpenUpload, { size, headers }: SourceHead): Promise<SentPart[]> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  const parts = new Array<SentPart>(Math.ceil(size / partBytes));
  const etag = headers.get("etag");
  const failures: unknown[] = [];
  await forEachConcurrent(parts.keys(), PARALLEL_PARTS, async (index) => {
    if (failures.length > 0) return;
    const from = index * partBytes;
    const part = { number: index + 1, from, to: Math.min(from + partBytes, size) - 1, etag };
    try {
      parts[index] = await copyPart(copy, upload, part);
    } catch (error) {
      // Wait for the copies under way: one after the abort could leave its part in the store.
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
  return parts;
}

interface Part {
  readonly number: number;
  /** Offset of the first byte. */
  readonly from: number;
  /** Offset of the last byte. */
  readonly to: number;
  /** The ETag that the source must still have. */
  readonly etag: string | null;
}

async function copyPart({ s3, caller, source }: Copy, upload: OpenUpload, part: Part): Promise<SentPart> {
  const { number, from, to, etag } = part;
  const resource = `object '${upload.key}' part ${number}`;
  const call = {
    operation: "UploadPartCopy",
    ...upload,
    workMs: ASSEMBLY_MS,
    resource,
    input: {
      PartNumber: number,
      CopySource: copySource(source),
      CopySourceRange: `bytes=${from}-${to}`,
      CopySourceIfMatch: etag || undefined,
    },
  } as const;
  for (let tries = 1;; tries++) {
    try {
      const ETag = await callSdk(s3, caller, call, ({ CopyPartResult }) => CopyPartResult?.ETag);
      if (!ETag) throw badGateway(`${resource}: the store's response has no ETag`);
      return { PartNumber: number, ETag };
    } catch (error) {
      if (tries === PART_TRIES || !(error instanceof HttpError) || error.status < 500) throw error;
    }
  }
}

/** The headers that a copy in parts sets itself; a copy in one request copies all of them. */
function copiedHeaders(source: Headers): HeaderRecord {
  const copied = [...source].filter(([name]) => CONTENT_HEADERS.includes(name) || name.startsWith(METADATA));
  return Object.fromEntries(copied.map(([name, value]) => [name, storableHeader(name, value)]));
}

/** The current version after a restore. */
interface Restored {
  /** Null where the store did not name it. */
  readonly versionId: string | null;
  readonly etag: string | null;
}

/** Error codes for a copy whose condition does not hold. `NoSuchKey`: there is no current version any more. */
const CHANGED: ReadonlySet<string | null> = new Set(["PreconditionFailed", "NoSuchKey", "ConditionalRequestConflict"]);

/** The version id of an object that was written without versioning. */
const NULL_VERSION = "null";

/**
 * Makes an old version the current one, by copying it onto its own key with its metadata and tags. Nothing is deleted: a
 * delete marker becomes older than the copy. Does nothing if the version is current. The copy is conditional on the
 * version that was current before, so that stores that support conditions reject it after a concurrent write. The caller's
 * conditions on the current version replace that one.
 *
 * @throws HttpError 404 for an unknown version, 400 for a delete marker, 409 where the bucket's versioning is not switched
 *   on, where it cannot be read and the key has a version `null`, or where the object was changed in between, else as {@link copyObject}
 */
export async function restoreVersion(
  s3: S3,
  caller: Caller,
  ref: VersionRef & { readonly versionId: string },
  conditions: Preconditions | null = null,
): Promise<Restored> {
  const { bucket, key, versionId } = ref;
  const unknown = await rejectUnversioned(s3, caller, bucket);
  const status = await headStatus(s3, caller, ref);
  if (status === 404) throw notFound(`version '${versionId}' of ${resourceOf(ref)}`);
  if (status === 405) throw badRequest("version_id: is a delete marker, which cannot be restored");
  const current = await currentVersion(s3, caller, { bucket, key });
  requireConditions(conditions, current, { bucket, key });
  if (unknown && current && (current.versionId ?? NULL_VERSION) === NULL_VERSION) throw unknown;
  if (current?.versionId === versionId) return { versionId, etag: current.etag };
  // A copy would replace a version `null`, or a delete marker of that id, where versioning is suspended.
  if (unknown && await headStatus(s3, caller, { bucket, key, versionId: NULL_VERSION }) !== 404) {
    throw new HttpError(
      409,
      `${resourceOf(ref)}: has a version 'null', which a restore would replace if versioning is suspended; ` +
        "only a user who may read that setting can restore it",
    );
  }
  const whereSupported = current === null ? ABSENT : current.etag === null ? {} : unchanged(current, ref);
  try {
    const order = { source: ref, target: { bucket, key }, ofTarget: conditions, whereSupported };
    const { etag, headers } = await copyObject(s3, caller, order);
    return { versionId: headers.get("x-amz-version-id"), etag };
  } catch (error) {
    if (conditions || !(error instanceof S3Failure && CHANGED.has(error.code))) throw error;
    throw new HttpError(409, `${resourceOf(ref)}: was changed meanwhile; nothing was restored`, { cause: error });
  }
}

/**
 * Rejects buckets without versioning, where a write would replace the object. Some stores show the setting to owners only.
 *
 * @returns the store's error where the caller may not read it, else null
 */
async function rejectUnversioned(s3: S3, caller: Caller, bucket: string): Promise<HttpError | null> {
  try {
    const { status } = await getVersioning(s3, caller, bucket);
    if (status === "Enabled") return null;
    throw new HttpError(
      409,
      status === null
        ? `bucket '${bucket}': has no versioning, so there are no older versions to restore`
        : `bucket '${bucket}': versioning is suspended, so a restore could replace a version; switch it on first`,
    );
  } catch (error) {
    if (error instanceof S3Failure && error.status === 403) return error;
    throw error;
  }
}

/** The status of a HEAD: 200, 404, or 405 for a delete marker. @throws HttpError for any other */
async function headStatus(s3: S3, caller: Caller, ref: VersionRef): Promise<number> {
  try {
    return (await headObject(s3, caller, ref)).status;
  } catch (error) {
    if (error instanceof S3Failure && (error.storeStatus === 404 || error.storeStatus === 405)) {
      return error.storeStatus;
    }
    throw error;
  }
}

/** Null where the key has no current version, or a delete marker. */
async function currentVersion(s3: S3, caller: Caller, ref: ObjectRef): Promise<Restored & ObjectState | null> {
  const headers = await currentHeaders(s3, caller, ref);
  return headers && { versionId: headers.get("x-amz-version-id"), ...stateOf(headers) };
}
