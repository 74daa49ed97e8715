import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { BodySource } from "@/lib/http/body_source.ts";
import { payloadTooLarge } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { type OpenUpload, sendPart, type SentPart } from "@/lib/s3/multipart.ts";
import { BUFFERED_SIZES, type BufferedSizes, uploadMemory } from "./buffered_parts.ts";
import { GatheredPart } from "./gathered_part.ts";

/** Longest part that is taken out of a form, bytes: where it ends is known only then, so it is in memory before it goes. */
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
  buffered: BufferedSizes = BUFFERED_SIZES,
): Promise<SentPart> {
  const memory = uploadMemory(buffered, caller.signal);
  const part = new GatheredPart(memory);
  try {
    await memory.reserve(Math.min(atMostBytes ?? MAX_FORM_PART_BYTES, MAX_FORM_PART_BYTES));
    const ended = await part.fill(source, MAX_FORM_PART_BYTES);
    if (!ended && await source.read(1) !== null) throw payloadTooLarge(MAX_FORM_PART_BYTES);
    return await sendPart(s3, caller, upload, number, part.body());
  } finally {
    source.stop();
    part.drop();
    part.over();
    memory.release();
  }
}
