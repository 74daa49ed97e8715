import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "./client.ts";
import type { ObjectPlace, UploadBody } from "./objects.ts";
import { readXml } from "./read_xml.ts";
import { leafOf, parsePartPage, type PartPage } from "./upload_xml.ts";
import { xmlDocument, xmlElement, xmlHeaders } from "./write_xml.ts";

/** Most parts of an upload, and the size of each but the last, bytes (S3 API, multipart upload limits). */
export const MAX_PARTS = 10_000;
export const MIN_PART_BYTES = 5 * 1024 * 1024;
export const MAX_PART_BYTES = 5 * 1024 ** 3;
export const DEFAULT_PART_BYTES = 25 * 1024 * 1024;
/** How long a store may put parts together, or copy one, ms. */
export const ASSEMBLY_MS = 600_000;

/** An abort is tried again: what it leaves behind costs storage and is not seen. */
const ABORT_TRIES = 2;

/** An upload in parts that the store keeps until it is completed or aborted. */
export interface OpenUpload extends ObjectPlace {
  readonly uploadId: string;
}

/** A part that the store has, members named as S3 names them. */
export interface SentPart {
  readonly PartNumber: number;
  /** As the store named it, quotes included. */
  readonly ETag: string;
}

/** What a completed upload made. */
interface CompletedUpload {
  readonly etag: string | null;
  /** Headers of the store's answer. */
  readonly headers: Headers;
}

/** Into how many parts a file goes. @throws HttpError 400 above {@link MAX_PARTS} */
export function partCount(fileBytes: number, partBytes: number): number {
  const parts = Math.ceil(fileBytes / partBytes);
  if (parts <= MAX_PARTS) return parts;
  throw badRequest(
    `Too many parts (${parts}). Increase part_size or reduce file_size. S3 maximum is 10,000 parts.`,
  );
}

/**
 * Begins an upload in parts.
 *
 * @param headers content headers and metadata of the object to be
 * @throws HttpError as {@link callS3}
 */
export async function createUpload(s3: S3, caller: Caller, place: ObjectPlace, headers?: Headers): Promise<OpenUpload> {
  const target = targetOf(place);
  const response = await callS3(s3, caller, { method: "POST", ...target, query: [["uploads", ""]], headers });
  const uploadId = await readXml(response, leafOf("InitiateMultipartUploadResult", "UploadId"), target.resource);
  if (!uploadId) throw badGateway(`${target.resource}: the store's answer names no upload`);
  return { bucket: place.bucket, key: place.key, uploadId };
}

/** Sends the part with a number. @throws HttpError 404 for an unknown upload, 502 when the store names no entity tag */
export async function sendPart(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  number: number,
  { body, lengthBytes }: UploadBody,
): Promise<SentPart> {
  const resource = `${targetOf(upload).resource} part ${number}`;
  const response = await callS3(s3, caller, {
    method: "PUT",
    ...targetOf(upload),
    query: [["uploadId", upload.uploadId], ["partNumber", String(number)]],
    // An empty part is sent as none, so that its length is 0 and its digest known.
    body: lengthBytes === 0 ? null : body,
    lengthBytes,
    resource,
  });
  await response.body?.cancel();
  const ETag = response.headers.get("etag");
  if (!ETag) throw badGateway(`${resource}: the store's answer names no entity tag`);
  return { PartNumber: number, ETag };
}

/**
 * Makes the object of its parts, which go in the order given.
 *
 * @param conditions If-Match and If-None-Match, judged when the object appears
 * @throws HttpError 404 for an unknown upload, 400 for bad parts, order or sizes
 */
export async function completeUpload(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  parts: readonly SentPart[],
  conditions?: Headers,
): Promise<CompletedUpload> {
  const target = targetOf(upload);
  const elements = parts.map(({ PartNumber, ETag }, index) =>
    `<Part>${xmlElement("PartNumber", PartNumber)}${xmlElement("ETag", ETag, `parts.${index}.ETag`)}</Part>`
  );
  const body = xmlDocument("CompleteMultipartUpload", elements.join(""));
  const headers = xmlHeaders(body);
  for (const [name, value] of conditions ?? []) headers.set(name, value);
  const response = await callS3(s3, caller, {
    method: "POST",
    ...target,
    query: [["uploadId", upload.uploadId]],
    headers,
    body,
    workMs: ASSEMBLY_MS,
  });
  const etag = await readXml(
    response,
    leafOf("CompleteMultipartUploadResult", "ETag"),
    target.resource,
    ASSEMBLY_MS,
  );
  return { etag, headers: response.headers };
}

/** Throws an upload's parts away. @throws HttpError 404 for an unknown upload */
export async function abortUpload(s3: S3, caller: Caller, upload: OpenUpload): Promise<void> {
  const query = [["uploadId", upload.uploadId]] as const;
  const response = await callS3(s3, caller, { method: "DELETE", ...targetOf(upload), query });
  await response.body?.cancel();
}

/** An upload that is aborted when it is disposed before it was completed. */
interface UploadHandle extends OpenUpload, AsyncDisposable {
  /** Makes the object. @throws HttpError as {@link completeUpload}, 499 when the client has left before */
  complete(parts: readonly SentPart[], conditions?: Headers): Promise<CompletedUpload>;
}

/**
 * Begins an upload that this process completes or aborts. Its beginning and its end do not stop when the client leaves:
 * cut off in between, an upload would stay in the store that nothing refers to.
 *
 * @throws HttpError as {@link createUpload}, 499 when the client has left before
 */
export async function openUpload(s3: S3, caller: Caller, place: ObjectPlace, headers?: Headers): Promise<UploadHandle> {
  const steady: Caller = { ...caller, signal: undefined };
  const mustBeHere = () => {
    if (caller.signal?.aborted) throw clientClosedRequest();
  };
  mustBeHere();
  const upload = await createUpload(s3, steady, place, headers);
  let isCompleted = false;
  return {
    ...upload,
    async complete(parts, conditions) {
      mustBeHere();
      const completed = await completeUpload(s3, steady, upload, parts, conditions);
      isCompleted = true;
      return completed;
    },
    async [Symbol.asyncDispose]() {
      for (let tries = 0; !isCompleted && tries < ABORT_TRIES; tries++) {
        try {
          return await abortUpload(s3, steady, upload);
        } catch (error) {
          // The failure that led here is the one to report. The upload stays in the store's list of uploads.
          if (!(error instanceof HttpError)) throw error;
          if (error.status < 500) return;
        }
      }
    },
  };
}

interface PartListOptions {
  /** 1 to 1000 */
  readonly maxParts: number;
  /** The page begins behind this part. */
  readonly partNumberMarker?: number;
}

/** One page of the parts that an upload has. @throws HttpError 404 for an unknown upload */
export async function listParts(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  options: PartListOptions,
): Promise<PartPage> {
  const target = targetOf(upload);
  const query: [string, string][] = [["uploadId", upload.uploadId], ["max-parts", String(options.maxParts)]];
  if (options.partNumberMarker) query.push(["part-number-marker", String(options.partNumberMarker)]);
  const response = await callS3(s3, caller, { method: "GET", ...target, query });
  return await readXml(response, parsePartPage, target.resource);
}

function targetOf({ bucket, key }: ObjectPlace) {
  return { bucket, key, resource: `object '${key}'` };
}
