import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { ASSEMBLY_MS, MAX_PARTS, type OpenUpload, openUpload, type SentPart } from "./multipart.ts";
import type { ObjectRef } from "./objects.ts";
import { callS3ForXml } from "./read_xml.ts";
import { s3Path } from "./signer.ts";
import { childReader } from "./upload_xml.ts";

/** Largest object that S3 copies in one request, bytes (S3 API, CopyObject). */
const MAX_COPY_BYTES = 5 * 1024 ** 3;
/** Size of a copied part, bytes; larger where that would make too many of them. */
const PART_BYTES = 512 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;
const PARALLEL_PARTS = 4;
const PART_TRIES = 3;
/** Headers that a copy in parts sets itself; a copy in one request copies all of them. */
const COPIED_HEADERS = [
  "content-type",
  "content-encoding",
  "content-disposition",
  "content-language",
  "cache-control",
  "expires",
];
const METADATA = "x-amz-meta-";

/**
 * Copies an object with its metadata inside the store; above 5 GiB in parts. That upload is aborted when a part fails, the
 * source changes or the client leaves.
 *
 * @returns the copy's ETag
 * @throws HttpError 404 when the source does not exist, else as {@link callS3ForXml}
 */
export async function copyObject(
  s3: S3,
  caller: Caller,
  source: ObjectRef,
  target: ObjectRef,
): Promise<string | null> {
  const headers = await callS3ForHeaders(s3, caller, { method: "HEAD", ...source });
  const size = Number(headers.get("content-length") ?? NaN);
  if (!(size > MAX_COPY_BYTES)) return await copyWhole(s3, caller, source, target);
  return await copyInParts(s3, caller, source, target, { size, headers });
}

async function copyWhole(s3: S3, caller: Caller, source: ObjectRef, target: ObjectRef): Promise<string | null> {
  const headers = {
    "x-amz-copy-source": s3Path(source.bucket, source.key),
    "x-amz-metadata-directive": "COPY",
  };
  const call = { method: "PUT", ...target, headers, workMs: ASSEMBLY_MS } as const;
  return await callS3ForXml(s3, caller, call, childReader("CopyObjectResult", "ETag"));
}

interface SourceHead {
  /** bytes */
  readonly size: number;
  readonly headers: Headers;
}

async function copyInParts(
  s3: S3,
  caller: Caller,
  source: ObjectRef,
  target: ObjectRef,
  head: SourceHead,
): Promise<string | null> {
  await using upload = await openUpload(s3, caller, target, copiedHeaders(head.headers));
  return (await upload.complete(await copyParts(s3, caller, source, upload, head))).etag;
}

async function copyParts(
  s3: S3,
  caller: Caller,
  source: ObjectRef,
  upload: OpenUpload,
  { size, headers }: SourceHead,
): Promise<SentPart[]> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS / MEBIBYTE) * MEBIBYTE);
  const parts = new Array<SentPart>(Math.ceil(size / partBytes));
  const etag = headers.get("etag");
  const failures: unknown[] = [];
  await forEachConcurrent(parts.keys(), PARALLEL_PARTS, async (index) => {
    if (failures.length > 0) return;
    const from = index * partBytes;
    const part = { number: index + 1, from, to: Math.min(from + partBytes, size) - 1, etag };
    try {
      parts[index] = await copyPart(s3, caller, source, upload, part);
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

async function copyPart(
  s3: S3,
  caller: Caller,
  source: ObjectRef,
  { bucket, key, uploadId }: OpenUpload,
  { number, from, to, etag }: Part,
): Promise<SentPart> {
  const headers: Record<string, string> = {
    "x-amz-copy-source": s3Path(source.bucket, source.key),
    "x-amz-copy-source-range": `bytes=${from}-${to}`,
  };
  if (etag) headers["x-amz-copy-source-if-match"] = etag;
  const resource = `object '${key}' part ${number}`;
  const query: [string, string][] = [["uploadId", uploadId], ["partNumber", String(number)]];
  const call = { method: "PUT", bucket, key, query, headers, workMs: ASSEMBLY_MS, resource } as const;
  for (let tries = 1;; tries++) {
    try {
      const ETag = await callS3ForXml(s3, caller, call, childReader("CopyPartResult", "ETag"));
      if (!ETag) throw badGateway(`${resource}: the store's response has no ETag`);
      return { PartNumber: number, ETag };
    } catch (error) {
      if (tries === PART_TRIES || !(error instanceof HttpError) || error.status < 500) throw error;
    }
  }
}

function copiedHeaders(source: Headers): Headers {
  const copied = new Headers();
  for (const [name, value] of source) {
    if (COPIED_HEADERS.includes(name) || name.startsWith(METADATA)) copied.set(name, value);
  }
  return copied;
}
