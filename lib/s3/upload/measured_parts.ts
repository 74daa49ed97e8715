import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { BodySource } from "@/lib/http/body_source.ts";
import { badRequest } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { type OpenUpload, sendPart, type SentPart } from "@/lib/s3/multipart.ts";

/** What is read of a body at a time, bytes. */
const PIECE_BYTES = 256 * 1024;

interface MeasuredBody {
  readonly source: BodySource;
  readonly lengthBytes: number;
  readonly partBytes: number;
}

/**
 * Sends a body of known length part after part, each streamed with its length: nothing of it is kept.
 *
 * @throws HttpError of the client's side before that of the store's, 400 when the body is shorter than it said
 */
export async function measuredParts(s3: S3, caller: Caller, open: OpenUpload, body: MeasuredBody): Promise<SentPart[]> {
  const parts: SentPart[] = [];
  for (let sent = 0; sent < body.lengthBytes;) {
    const lengthBytes = Math.min(body.partBytes, body.lengthBytes - sent);
    const piece = partStream(body.source, lengthBytes);
    try {
      const part = { body: piece.stream, madeHere: true, lengthBytes };
      parts.push(await sendPart(s3, caller, open, parts.length + 1, part));
    } catch (error) {
      throw piece.failure() ?? error;
    }
    sent += lengthBytes;
  }
  return parts;
}

/** So many bytes of a source as a stream; `failure` tells why the source broke off. */
function partStream(source: BodySource, lengthBytes: number) {
  let left = lengthBytes;
  let failure: unknown;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const bytes = await source.read(Math.min(left, PIECE_BYTES));
        if (bytes === null) throw badRequest("content-length: the body is shorter");
        left -= bytes.length;
        // The next read overwrites it, and is asked for when this has been written.
        controller.enqueue(bytes);
        if (left === 0) controller.close();
      } catch (error) {
        failure = error;
        controller.error(error);
      }
    },
  }, { highWaterMark: 0 });
  return { stream, failure: () => failure };
}
