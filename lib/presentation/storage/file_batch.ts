/**
 * Small files that share a request: browsers spend several times as much on a request as on the bytes of a small file.
 *
 * The body is the length of a head in JSON (four bytes, the highest first), the head, a list of {@link BatchedFile}, and
 * the bytes of the files one after the other. The response is a list of {@link BatchedResponse} in the same order.
 */

/** Most files of a request. */
export const MAX_BATCH_FILES = 32;
/** Most bytes of all files of a request. */
export const MAX_BATCH_BYTES = 512 * 1024;
/** Where they are sent, below the operations that pages reach. */
export const BATCH_OPERATION = "/small-files";
const LENGTH_BYTES = 4;

/** A PUT of an object. */
export interface BatchedFile {
  readonly bucket: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Length of the body, bytes. */
  readonly bytes: number;
}

/** What the gateway responded to one file. */
export interface BatchedResponse {
  readonly status: number;
  /** The body, as text. */
  readonly text: string;
  readonly etag: string | null;
  readonly retryAfter: string | null;
}

/** The body of a request with these files. */
export function batchBody(
  files: readonly BatchedFile[],
  bodies: readonly ArrayBuffer[],
): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(JSON.stringify(files));
  const length = bodies.reduce((sum, { byteLength }) => sum + byteLength, LENGTH_BYTES + head.length);
  const body = new Uint8Array(length);
  new DataView(body.buffer).setUint32(0, head.length);
  body.set(head, LENGTH_BYTES);
  let at = LENGTH_BYTES + head.length;
  for (const bytes of bodies) {
    body.set(new Uint8Array(bytes), at);
    at += bytes.byteLength;
  }
  return body;
}

/** The head of a request's body, and what follows it; null for a body that is too short for its head. */
export function batchParts(body: Uint8Array<ArrayBuffer>) {
  if (body.length < LENGTH_BYTES) return null;
  const end = LENGTH_BYTES + new DataView(body.buffer, body.byteOffset).getUint32(0);
  return end > body.length ? null : { head: body.subarray(LENGTH_BYTES, end), rest: body.subarray(end) };
}
