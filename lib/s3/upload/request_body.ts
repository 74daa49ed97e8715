import { bodySource } from "@/lib/http/body_source.ts";
import { badRequest } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";

/**
 * Bodies up to so many bytes are read here. The runtime passes a body on in large chunks, after which its connection must
 * not be used again: too expensive for many small bodies.
 */
export const READ_HERE_BYTES = 64 * 1024;

/**
 * A request's body for one PUT: a short one is read, a long one is passed on as it is.
 *
 * @throws HttpError 400 when the body is shorter than announced, 408, 499
 */
export async function requestBody(
  { bounds }: Pick<S3, "bounds">,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  lengthBytes: number,
): Promise<UploadBody> {
  if (!body || lengthBytes === 0 || lengthBytes > READ_HERE_BYTES) return { body, lengthBytes };
  const source = bodySource(body, { lengthBytes, bounds });
  const whole = new Uint8Array(lengthBytes);
  for (let at = 0; at < lengthBytes;) {
    const bytes = await source.read(lengthBytes - at);
    if (!bytes) throw badRequest("content-length: the body is shorter than announced");
    whole.set(bytes, at);
    at += bytes.length;
  }
  return { body: whole, lengthBytes };
}
