import { bodySource } from "@/lib/http/body_source.ts";
import { badRequest } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";

/**
 * Bodies up to so many bytes are read here. A body that is handed on is taken by large pieces of the runtime's choice,
 * after which its connection must not be used again: too dear for many small ones.
 */
const READ_HERE_BYTES = 64 * 1024;

/**
 * A request's body for one PUT: a short one read whole, a long one as it is, to be handed on.
 *
 * @throws HttpError 400 when it is shorter than announced, 408, 499
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
    if (!bytes) throw badRequest("content-length: the body is shorter");
    whole.set(bytes, at);
    at += bytes.length;
  }
  return { body: whole, lengthBytes };
}
