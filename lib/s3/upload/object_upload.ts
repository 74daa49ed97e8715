import type { Caller } from "@/lib/auth/store_credentials.ts";
import { type BodySource, bodySource } from "@/lib/http/body_source.ts";
import { clientClosedRequest, HttpError, payloadTooLarge } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import {
  abandonUpload,
  completeUpload,
  createUpload,
  MAX_PARTS,
  type OpenUpload,
  type SentPart,
} from "@/lib/s3/multipart.ts";
import { type ObjectPlace, putObject } from "@/lib/s3/objects.ts";
import { bodyDigests, DIGEST_HEADERS } from "./body_digests.ts";
import { BUFFERED_SIZES, bufferedParts, type BufferedSizes } from "./buffered_parts.ts";
import { measuredParts } from "./measured_parts.ts";
import { requestBody } from "./request_body.ts";

const GIB = 1024 ** 3;
/** Conditions of a write, which the store judges when the object appears. */
const CONDITIONS = ["if-match", "if-none-match"];

/** What the store takes (S3 API, multipart upload limits), and how bodies are cut. */
export interface UploadSizes {
  /** Longest body of one PUT, bytes. */
  readonly maxPutBytes: number;
  /** Longest object, bytes. */
  readonly maxObjectBytes: number;
  /** Most parts of an upload. */
  readonly maxParts: number;
  /** Parts of a body of known length are at least so long, bytes. */
  readonly measuredPartBytes: number;
  readonly buffered: BufferedSizes;
}

export const UPLOAD_SIZES: UploadSizes = {
  maxPutBytes: 5 * GIB,
  maxObjectBytes: 5 * 1024 * GIB,
  maxParts: MAX_PARTS,
  measuredPartBytes: GIB,
  buffered: BUFFERED_SIZES,
};

interface ObjectUpload {
  /** A request's body; read here unless its length allows one PUT. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Null: not known before its end. */
  readonly lengthBytes: number | null;
  /** Content headers, digests, conditions and `x-amz-meta-*`. */
  readonly headers: Headers;
}

/** What a write made. */
export interface WrittenObject {
  readonly etag: string | null;
  /** The store's headers. */
  readonly headers: Headers;
}

/**
 * Writes an object of any length without keeping more of it in memory than a named share. With a length up to
 * {@link UploadSizes.maxPutBytes} the body goes on in one PUT; a longer one is cut into parts as it streams;
 * one of unknown length is gathered part by part, and is one PUT when it ends within the first.
 *
 * An upload in parts that does not end well is aborted, whether the client, the store or a digest is the cause.
 *
 * @throws HttpError 413 for what no object can hold, 400 for a digest that does not match, else as the store answers
 */
export async function writeObject(
  s3: S3,
  caller: Caller,
  place: ObjectPlace,
  upload: ObjectUpload,
  sizes: UploadSizes = UPLOAD_SIZES,
): Promise<WrittenObject> {
  const { lengthBytes, body, headers } = upload;
  if (lengthBytes !== null && lengthBytes > sizes.maxObjectBytes) throw payloadTooLarge(sizes.maxObjectBytes);
  if (lengthBytes !== null && lengthBytes <= sizes.maxPutBytes) {
    const answer = await putObject(s3, caller, place, { ...await requestBody(s3, body, lengthBytes), headers });
    return { etag: answer.get("etag"), headers: answer };
  }
  const source = bodySource(body, { lengthBytes, bounds: s3.bounds });
  return await writeFromSource(s3, caller, place, { source, lengthBytes, headers }, sizes);
}

/** The same from bytes that only this process has, such as the file in a form. @throws HttpError as {@link writeObject} */
export async function writeFromSource(
  s3: S3,
  caller: Caller,
  place: ObjectPlace,
  upload: { readonly source: BodySource; readonly lengthBytes: number | null; readonly headers: Headers },
  sizes: UploadSizes = UPLOAD_SIZES,
): Promise<WrittenObject> {
  const { source, lengthBytes, headers } = upload;
  const digests = bodyDigests(headers);
  const seen: BodySource = {
    async read(maxBytes) {
      const bytes = await source.read(maxBytes);
      if (bytes) digests.update(bytes);
      return bytes;
    },
    stop: () => source.stop(),
  };
  const inParts = async (send: (upload: OpenUpload) => Promise<SentPart[]>) => {
    // What tidies up must be done also when nobody waits for it any more.
    const steady: Caller = { ...caller, signal: undefined };
    if (caller.signal?.aborted) throw clientClosedRequest();
    const open = await createUpload(s3, steady, place, without(headers, [...CONDITIONS, ...DIGEST_HEADERS]));
    try {
      const parts = await send(open);
      digests.check();
      if (caller.signal?.aborted) throw clientClosedRequest();
      return await completeUpload(s3, steady, open, parts, only(headers, CONDITIONS));
    } catch (error) {
      source.stop();
      await abandonUpload(s3, steady, open);
      throw error;
    }
  };
  try {
    if (lengthBytes !== null) {
      const partBytes = Math.max(sizes.measuredPartBytes, Math.ceil(lengthBytes / sizes.maxParts));
      return await inParts((open) => measuredParts(s3, caller, open, { source: seen, lengthBytes, partBytes }));
    }
    return await bufferedParts(s3, caller, seen, sizes, {
      whole: async (body) => {
        const answer = await putObject(s3, caller, place, { ...body, headers });
        return { etag: answer.get("etag"), headers: answer };
      },
      inParts,
    });
  } catch (error) {
    source.stop();
    throw caller.signal?.aborted && !(error instanceof HttpError) ? clientClosedRequest(error) : error;
  }
}

function without(headers: Headers, names: readonly string[]): Headers {
  const rest = new Headers(headers);
  for (const name of names) rest.delete(name);
  return rest;
}

function only(headers: Headers, names: readonly string[]): Headers {
  const kept = new Headers();
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}
