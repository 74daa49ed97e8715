import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders, callS3ForXml, type HeaderRecord, resourceOf, type S3 } from "./s3_client.ts";
import type { ObjectRef, UploadBody, WrittenObject } from "./objects.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { count, isTrue, MalformedXml, nameReader, optionalTime, readListing, requireXml } from "./s3_xml.ts";
import { queryOf } from "./listing.ts";

/** Most parts of an upload, and the size of each but the last, bytes (S3 API, multipart upload limits). */
export const MAX_PARTS = 10_000;
export const MIN_PART_BYTES = 5 * 1024 * 1024;
export const MAX_PART_BYTES = 5 * 1024 ** 3;
export const DEFAULT_PART_BYTES = 25 * 1024 * 1024;
/** How long a store may assemble parts, or copy one, ms. */
export const ASSEMBLY_MS = 600_000;

/** An abort is retried, since an upload that stays takes up storage and is not listed among the objects. */
const ABORT_TRIES = 2;

/** A multipart upload, which the store keeps until it is completed or aborted. */
export interface OpenUpload extends ObjectRef {
  readonly uploadId: string;
}

/** A part that the store has, members named as in S3. */
export interface SentPart {
  readonly PartNumber: number;
  /** Quotes included. */
  readonly ETag: string;
  /** Base64. Stores may require it of uploads that were created with that algorithm. */
  readonly ChecksumSHA256?: string | null;
}

/** A part to send. */
interface PartBody extends UploadBody {
  readonly number: number;
  /** Digests of the bytes. */
  readonly headers?: HeaderRecord;
}

/** The number of parts of a file. @throws HttpError 400 above {@link MAX_PARTS} */
export function partCount(fileBytes: number, partBytes: number): number {
  const parts = Math.ceil(fileBytes / partBytes);
  if (parts <= MAX_PARTS) return parts;
  throw badRequest(
    `Too many parts (${parts}). Increase part_size or reduce file_size. S3 maximum is 10,000 parts.`,
  );
}

/** The headers of an upload whose parts have SHA-256 checksums; the store rejects others. */
export const WITH_SHA256 = { "x-amz-checksum-algorithm": "SHA256" } as const;

/**
 * Creates a multipart upload.
 *
 * @param headers content headers and metadata of the future object; {@link WITH_SHA256}
 * @throws HttpError as {@link callS3}
 */
export async function createUpload(
  s3: S3,
  caller: Caller,
  ref: ObjectRef,
  headers?: HeaderRecord,
): Promise<OpenUpload> {
  const { bucket, key } = ref;
  const call = { operation: "CreateMultipartUpload", bucket, key, headers } as const;
  const uploadId = await callSdk(s3, caller, call, ({ UploadId }) => UploadId);
  if (!uploadId) throw badGateway(`${resourceOf(ref)}: the store's response has no upload ID`);
  return { bucket, key, uploadId };
}

/** Sends one part. @throws HttpError 404 for an unknown upload, 502 when the response has no ETag */
export async function sendPart(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  { number, body, lengthBytes, headers: digests }: PartBody,
): Promise<SentPart> {
  const { bucket, key } = upload;
  const resource = `${resourceOf(upload)} part ${number}`;
  const headers = await callS3ForHeaders(s3, caller, {
    operation: "UploadPart",
    method: "PUT",
    bucket,
    key,
    query: [["uploadId", upload.uploadId], ["partNumber", String(number)]],
    headers: digests,
    // An empty part is sent as none, so that its length is 0 and its digest known.
    body: lengthBytes === 0 ? null : body,
    lengthBytes,
    resource,
  });
  const ETag = headers.get("etag");
  if (!ETag) throw badGateway(`${resource}: the store's response has no ETag`);
  return { PartNumber: number, ETag };
}

interface Completion {
  /** In their order. */
  readonly parts: readonly SentPart[];
  /** If-Match and If-None-Match, checked when the object appears. */
  readonly conditions?: HeaderRecord;
}

/**
 * Assembles the object from its parts.
 *
 * @throws HttpError 404 for an unknown upload, 400 for bad parts, order or sizes
 */
export async function completeUpload(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  { parts, conditions }: Completion,
): Promise<WrittenObject> {
  const { bucket, key, uploadId } = upload;
  requireXml({ parts });
  const Parts = parts.map((part) => ({ ...part, ChecksumSHA256: part.ChecksumSHA256 ?? undefined }));
  const input = { MultipartUpload: { Parts } };
  const target = { bucket, key, uploadId, headers: conditions, workMs: ASSEMBLY_MS };
  return await callSdk(
    s3,
    caller,
    { operation: "CompleteMultipartUpload", ...target, input },
    ({ ETag }, headers) => ({ etag: ETag ?? null, headers }),
  );
}

/** Aborts an upload and deletes its parts. @throws HttpError 404 for an unknown upload */
export async function abortUpload(s3: S3, caller: Caller, { bucket, key, uploadId }: OpenUpload): Promise<void> {
  await callSdkForHeaders(s3, caller, { operation: "AbortMultipartUpload", bucket, key, uploadId });
}

/** An upload that is aborted when it is disposed before it was completed. */
interface UploadHandle extends OpenUpload, AsyncDisposable {
  /** Completes the upload. @throws HttpError as {@link completeUpload}, 499 when the client has left before */
  complete(completion: Completion): Promise<WrittenObject>;
}

/**
 * Creates an upload that this process completes or aborts. These requests continue when the client leaves: aborted, they
 * could leave an upload in the store whose ID is unknown.
 *
 * @throws HttpError as {@link createUpload}, 499 when the client has left before
 */
export async function openUpload(
  s3: S3,
  caller: Caller,
  ref: ObjectRef,
  headers?: HeaderRecord,
): Promise<UploadHandle> {
  const steady: Caller = { ...caller, signal: undefined };
  const throwIfLeft = () => {
    if (caller.signal?.aborted) throw clientClosedRequest();
  };
  throwIfLeft();
  const upload = await createUpload(s3, steady, ref, headers);
  let isCompleted = false;
  return {
    ...upload,
    async complete(completion) {
      throwIfLeft();
      const completed = await completeUpload(s3, steady, upload, completion);
      isCompleted = true;
      return completed;
    },
    async [Symbol.asyncDispose]() {
      for (let tries = 0; !isCompleted && tries < ABORT_TRIES; tries++) {
        try {
          return await abortUpload(s3, steady, upload);
        } catch (error) {
          // The original failure is reported. The upload stays in the store's list of uploads.
          if (error instanceof HttpError && error.status < 500) return;
        }
      }
    },
  };
}

/** A page of the parts that an upload has, members of its entries named as in S3. */
export const partPage = z.object({
  parts: z.array(z.object({
    PartNumber: z.int(),
    ETag: z.string().nullable(),
    Size: z.int().meta({ description: "bytes" }),
    LastModified: z.string().nullable(),
    ChecksumSHA256: z.string().optional().meta({ description: "In base64; absent if the store has none" }),
  })),
  is_truncated: z.boolean(),
  next_part_number_marker: z.int().nullable(),
});
export type PartPage = z.output<typeof partPage>;

/**
 * One page of the parts that an upload has.
 *
 * @param page `maxParts` is 1 to 1000; the page starts after the part `partNumberMarker`
 * @throws HttpError 404 for an unknown upload
 */
export async function listParts(
  s3: S3,
  caller: Caller,
  { bucket, key, uploadId }: OpenUpload,
  { maxParts, partNumberMarker }: { readonly maxParts: number; readonly partNumberMarker?: number },
): Promise<PartPage> {
  const query = queryOf({ uploadId, "max-parts": maxParts, "part-number-marker": partNumberMarker || "" });
  return await callS3ForXml(s3, caller, { operation: "ListParts", method: "GET", bucket, key, query }, parsePartPage);
}

/** Reads a ListParts response. @throws MalformedXml for any other document */
export function parsePartPage(xml: string): PartPage {
  const parts: PartPage["parts"] = [];
  const members = readListing(xml, "ListPartsResult", {
    Part(entry) {
      const ChecksumSHA256 = entry.get("ChecksumSHA256");
      parts.push({
        PartNumber: count(entry.get("PartNumber") ?? "") || refuse("a part without a number"),
        ETag: entry.get("ETag") ?? null,
        Size: count(entry.get("Size") ?? "0"),
        LastModified: optionalTime(entry.get("LastModified")),
        ...ChecksumSHA256 ? { ChecksumSHA256 } : {},
      });
    },
  });
  const next = members.get("NextPartNumberMarker");
  return {
    parts,
    is_truncated: isTrue(members.get("IsTruncated")),
    next_part_number_marker: next ? count(next) : null,
  };
}

/** A page of multipart uploads that are neither completed nor aborted, likewise. */
export const uploadPage = z.object({
  uploads: z.array(z.object({
    Key: z.string(),
    UploadId: z.string(),
    /** ISO 8601 in UTC. */
    Initiated: z.string().nullable(),
    StorageClass: z.string().nullable(),
  })),
  is_truncated: z.boolean(),
  next_key_marker: z.string().nullable(),
  next_upload_id_marker: z.string().nullable(),
});
export type UploadPage = z.output<typeof uploadPage>;

interface UploadListOptions {
  readonly prefix?: string;
  readonly keyMarker?: string;
  readonly uploadIdMarker?: string;
  /** 1 to 1000 */
  readonly maxUploads: number;
}

/** One page of a bucket's open multipart uploads. @throws HttpError as {@link callS3ForXml} */
export async function listUploads(
  s3: S3,
  caller: Caller,
  bucket: string,
  options: UploadListOptions,
): Promise<UploadPage> {
  const query = queryOf({
    "max-uploads": options.maxUploads,
    "encoding-type": "url",
    prefix: options.prefix,
    "key-marker": options.keyMarker,
    "upload-id-marker": options.uploadIdMarker,
  });
  const call = { operation: "ListMultipartUploads", method: "GET", bucket } as const;
  return await callS3ForXml(s3, caller, { ...call, query: [["uploads", ""], ...query] }, parseUploadPage);
}

/** Reads a ListMultipartUploads response. @throws MalformedXml for any other document */
export function parseUploadPage(xml: string): UploadPage {
  const uploads: UploadPage["uploads"] = [];
  const members = readListing(xml, "ListMultipartUploadsResult", {
    Upload: (entry) =>
      uploads.push({
        Key: entry.get("Key") || refuse("an upload without a key"),
        UploadId: entry.get("UploadId") || refuse("an upload without an ID"),
        Initiated: optionalTime(entry.get("Initiated")),
        StorageClass: entry.get("StorageClass") || null,
      }),
  });
  const decoded = nameReader(members.get("EncodingType"));
  for (const upload of uploads) upload.Key = decoded(upload.Key);
  return {
    uploads,
    is_truncated: isTrue(members.get("IsTruncated")),
    next_key_marker: decoded(members.get("NextKeyMarker") ?? "") || null,
    next_upload_id_marker: members.get("NextUploadIdMarker") || null,
  };
}

function refuse(problem: string): never {
  throw new MalformedXml(problem);
}
