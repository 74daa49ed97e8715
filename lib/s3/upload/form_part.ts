import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { BodySource } from "@/lib/http/body_source.ts";
import { payloadTooLarge } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { type OpenUpload, sendPart, type SentPart } from "@/lib/s3/multipart.ts";
import { UPLOAD_SIZES } from "./object_upload.ts";
import { BufferedPart } from "./parts.ts";

/** Longest part in a form, bytes: its length is known only at its end, so it is in memory before it is sent. */
export const MAX_FORM_PART_BYTES = 64 * 1024 * 1024;

/**
 * Sends one part of an upload from a source of unknown length.
 *
 * @param atMostBytes what the part cannot exceed, where that is known
 * @throws HttpError 413 above {@link MAX_FORM_PART_BYTES}, 503 when no memory becomes free, else as {@link sendPart}
 */
export async function sendPartFromSource(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  number: number,
  source: BodySource,
  atMostBytes: number | null,
): Promise<SentPart> {
  using buffers = UPLOAD_SIZES.pool.lease(caller.signal);
  using part = new BufferedPart(buffers);
  try {
    await part.fill(source, Math.min(atMostBytes ?? MAX_FORM_PART_BYTES, MAX_FORM_PART_BYTES));
    if (!part.isLast && await source.read(1) !== null) throw payloadTooLarge(MAX_FORM_PART_BYTES);
    return await sendPart(s3, caller, upload, number, part.content());
  } finally {
    source.stop();
  }
}
