import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import {
  guardWrite,
  holdsCondition,
  type Preconditions,
  requireConditions,
  stateOf,
  unchanged,
  unsupported,
} from "./conditions.ts";
import type { HeaderRecord, S3 } from "./s3_client.ts";
import { ASSEMBLY_MS, MAX_PARTS, type OpenUpload, openUpload, type SentPart } from "./multipart.ts";
import { CONTENT_HEADERS, METADATA, storableHeader } from "./object_headers.ts";
import { headObject, type ObjectRef, type VersionRef, type WrittenObject } from "./objects.ts";
import { callSdk } from "./sdk.ts";
import { s3Path } from "./signer.ts";
import { getTags, tagHeader } from "./tags.ts";

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
  source: VersionRef,
  target: ObjectRef,
  { ofSource = null, ofTarget = null, whereSupported = {} }: CopyConditions = {},
): Promise<WrittenObject> {
  const { headers } = await headObject(s3, caller, source);
  const size = Number(headers.get("content-length") ?? NaN);
  const write = size > MAX_COPY_BYTES ? "complete" : "copy";
  const conditions: Record<string, string> = { ...await guardWrite(s3, caller, target, [write], ofTarget) };
  if (!ofTarget) {
    for (const name of ["if-match", "if-none-match"] as const) {
      const value = whereSupported[name];
      if (value !== undefined && await holdsCondition(s3, caller, target, write, name)) conditions[name] = value;
    }
  }
  if (ofSource) {
    if (!(await s3.conditions?.(caller, target))?.copySource) throw unsupported(ofSource.names);
    requireConditions(ofSource, stateOf(headers), source);
  }
  const copy = { s3, caller, source, target, conditions };
  // Each part has this condition by itself.
  if (write === "complete") return await copyInParts(copy, { size, headers });
  if (ofSource) conditions["x-amz-copy-source-if-match"] = unchanged(stateOf(headers), source)["if-match"];
  return await copyWhole(copy);
}

/** The conditions of a copy. */
interface CopyConditions {
  /** A caller's, on the source. */
  readonly ofSource?: Preconditions | null;
  /** A caller's, on the object that the copy replaces. */
  readonly ofTarget?: Preconditions | null;
  /** If-Match or If-None-Match of the gateway itself, left out where the store would ignore it. */
  readonly whereSupported?: HeaderRecord;
}

/** A copy that is under way. */
interface Copy {
  readonly s3: S3;
  readonly caller: Caller;
  readonly source: VersionRef;
  readonly target: ObjectRef;
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
  const headers = copiedHeaders(head.headers);
  if (Number(head.headers.get("x-amz-tagging-count")) > 0) {
    headers.set("x-amz-tagging", tagHeader(await getTags(s3, caller, source)));
  }
  await using upload = await openUpload(s3, caller, target, headers);
  return await upload.complete(await copyParts(copy, upload, head), new Headers(conditions));
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
      // The copies that are under way end first: one that came after the abort could leave its part in the store.
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
function copiedHeaders(source: Headers): Headers {
  const copied = new Headers();
  for (const [name, value] of source) {
    if (CONTENT_HEADERS.includes(name) || name.startsWith(METADATA)) copied.set(name, storableHeader(name, value));
  }
  return copied;
}
