import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "./client.ts";
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

/** Where an object is, or will be. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

/** A part as a completion names it. */
export interface CompletedPart {
  readonly PartNumber: number;
  readonly ETag: string;
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
 * Begins an upload in parts; answers its id.
 *
 * @param headers content headers and metadata of the object to be
 * @throws HttpError as {@link callS3}
 */
export async function createUpload(s3: S3, caller: Caller, place: ObjectPlace, headers?: Headers): Promise<string> {
  const resource = resourceOf(place);
  const response = await callS3(s3, caller, { method: "POST", ...place, query: [["uploads", ""]], headers, resource });
  const id = await readXml(response, leafOf("InitiateMultipartUploadResult", "UploadId"), resource);
  if (!id) throw badGateway(`${resource}: the store's answer names no upload`);
  return id;
}

/**
 * Makes the object of its parts; answers its ETag. Parts go in the order given.
 *
 * @throws HttpError 404 for an unknown upload, 400 for bad parts, order or sizes
 */
export async function completeUpload(
  s3: S3,
  caller: Caller,
  place: ObjectPlace,
  uploadId: string,
  parts: readonly CompletedPart[],
): Promise<string | null> {
  const resource = resourceOf(place);
  const elements = parts.map(({ PartNumber, ETag }, index) =>
    `<Part>${xmlElement("PartNumber", PartNumber)}${xmlElement("ETag", ETag, `parts.${index}.ETag`)}</Part>`
  );
  const body = xmlDocument("CompleteMultipartUpload", elements.join(""));
  const response = await callS3(s3, caller, {
    method: "POST",
    ...place,
    query: [["uploadId", uploadId]],
    headers: xmlHeaders(body),
    body,
    workMs: ASSEMBLY_MS,
    resource,
  });
  return await readXml(response, leafOf("CompleteMultipartUploadResult", "ETag"), resource);
}

/** Throws an upload's parts away. @throws HttpError 404 for an unknown upload */
export async function abortUpload(s3: S3, caller: Caller, place: ObjectPlace, uploadId: string): Promise<void> {
  const query: [string, string][] = [["uploadId", uploadId]];
  const response = await callS3(s3, caller, { method: "DELETE", ...place, query, resource: resourceOf(place) });
  await response.body?.cancel();
}

export interface PartListOptions {
  /** 1 to 1000 */
  readonly maxParts: number;
  /** The page begins behind this part. */
  readonly partNumberMarker?: number;
}

/** One page of the parts that an upload has. @throws HttpError 404 for an unknown upload */
export async function listParts(
  s3: S3,
  caller: Caller,
  place: ObjectPlace,
  uploadId: string,
  options: PartListOptions,
): Promise<PartPage> {
  const query: [string, string][] = [["uploadId", uploadId], ["max-parts", String(options.maxParts)]];
  if (options.partNumberMarker) query.push(["part-number-marker", String(options.partNumberMarker)]);
  const resource = resourceOf(place);
  const response = await callS3(s3, caller, { method: "GET", ...place, query, resource });
  return await readXml(response, parsePartPage, resource);
}

export interface UploadedPart {
  readonly uploadId: string;
  readonly partNumber: number;
  /** Handed on untouched: a body that was piped through anything loses its Content-Length. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly lengthBytes: number;
}

/** Writes one part; answers its ETag. @throws HttpError 404 for an unknown upload */
export async function uploadPart(
  s3: S3,
  caller: Caller,
  place: ObjectPlace,
  { uploadId, partNumber, body, lengthBytes }: UploadedPart,
): Promise<string | null> {
  const response = await callS3(s3, caller, {
    method: "PUT",
    ...place,
    query: [["uploadId", uploadId], ["partNumber", String(partNumber)]],
    body: lengthBytes === 0 ? null : body,
    lengthBytes,
    resource: `object '${place.key}' part ${partNumber}`,
  });
  await response.body?.cancel();
  return response.headers.get("etag");
}

function resourceOf({ key }: ObjectPlace): string {
  return `object '${key}'`;
}
