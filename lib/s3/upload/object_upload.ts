import type { Caller } from "@/lib/auth/store_credentials.ts";
import { type BodySource, bodySource } from "@/lib/http/body.ts";
import { badRequest, clientClosedRequest, HttpError, payloadTooLarge } from "@/lib/http/errors.ts";
import type { HeaderRecord, S3 } from "@/lib/s3/s3_client.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import { MAX_PARTS, MIN_PART_BYTES, type OpenUpload, openUpload, sendPart, type SentPart } from "@/lib/s3/multipart.ts";
import { type ObjectRef, putObject, type UploadBody, type WrittenObject } from "@/lib/s3/objects.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import {
  BufferedPart,
  BufferPool,
  type Part,
  partsOfKnownLength,
  partsOfUnknownLength,
  type UnknownLengthSizes,
} from "./parts.ts";

/** Conditions of a write: an upload in parts has them at its completion. */
const WRITE_CONDITIONS = ["if-match", "if-none-match"];

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Parts of unknown length have 5 MiB, twice as much after every thousand, at most 128: 10,000 of them have 776 GiB. */
const LARGEST_PART_BYTES = 128 * MIB;
const PARTS_OF_A_SIZE = 1000;
/** Bytes sent at a time, and the memory of a body that turns out to be short, bytes. */
const BUFFER_BYTES = 256 * KIB;

/** The limits of the store (S3 API, multipart upload limits), and how bodies are split. */
export interface UploadSizes extends UnknownLengthSizes {
  /** Longest body of one PUT, bytes. */
  readonly maxPutBytes: number;
  /** Longest object, bytes. */
  readonly maxObjectBytes: number;
  /** Least length of the parts of a body of known length, bytes. */
  readonly knownPartBytes: number;
  /** Memory of the parts of unknown length. */
  readonly pool: BufferPool;
}

export const UPLOAD_SIZES: UploadSizes = {
  maxPutBytes: 5 * GIB,
  maxObjectBytes: 5 * 1024 * GIB,
  maxParts: MAX_PARTS,
  knownPartBytes: GIB,
  firstBytes: BUFFER_BYTES,
  partBytes: (number) => Math.min(MIN_PART_BYTES * 2 ** Math.floor((number - 1) / PARTS_OF_A_SIZE), LARGEST_PART_BYTES),
  pool: new BufferPool({
    bufferBytes: BUFFER_BYTES,
    totalBytes: 256 * MIB,
    cachedBytes: 8 * MIN_PART_BYTES,
    waitMs: 30_000,
  }),
};

const NO_SAFE_UPLOAD = "The store may store an upload that breaks off as an object, and has no uploads in parts: " +
  "see S3_ALLOW_TRUNCATED_UPLOADS";

interface ObjectUpload {
  /** A request's body. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Null when it is unknown before the end. */
  readonly lengthBytes: number | null;
  /** Content headers, digests, conditions and `x-amz-meta-*`. */
  readonly headers: HeaderRecord;
  readonly sizes?: UploadSizes;
}

/** The same from bytes that only this process has, such as the file in a form. */
type SourceUpload = Omit<ObjectUpload, "body"> & { readonly source: BodySource };

/**
 * Writes an object of any length. A body of known length up to {@link UploadSizes.maxPutBytes} is passed on in one PUT,
 * unless the store may truncate it; any other goes as {@link writeFromSource} sends it.
 *
 * @throws HttpError 413 for what no object can hold, else as {@link writeFromSource}
 */
export async function writeObject(
  s3: S3,
  caller: Caller,
  target: ObjectRef,
  { lengthBytes, body, headers, sizes = UPLOAD_SIZES }: ObjectUpload,
): Promise<WrittenObject> {
  if (lengthBytes !== null && lengthBytes > sizes.maxObjectBytes) throw payloadTooLarge(sizes.maxObjectBytes);
  const isOnePut = lengthBytes !== null && lengthBytes <= sizes.maxPutBytes &&
    (lengthBytes <= READ_HERE_BYTES || !await s3.mayTruncate?.(hasDigest(headers)));
  if (isOnePut) {
    return await putObject(s3, caller, target, { ...await requestBody(s3, body, lengthBytes), headers });
  }
  const source = bodySource(body, { lengthBytes, bounds: s3.bounds });
  return await writeFromSource(s3, caller, target, { source, lengthBytes, headers, sizes });
}

/**
 * Writes an object in parts: streamed where its length is known, else read into the memory of one part. A body of unknown
 * length that ends within its first part is one PUT, unless it streams and the store may truncate it. An upload that does
 * not end well is aborted.
 *
 * @throws HttpError 413 for a body of unknown length that is longer than all parts, 400 for a digest that does not match,
 *   503 when no memory becomes free, 501 when the store has no uploads in parts and may truncate, else as the source and
 *   the store do
 */
export async function writeFromSource(
  s3: S3,
  caller: Caller,
  target: ObjectRef,
  { source, lengthBytes, headers, sizes = UPLOAD_SIZES }: SourceUpload,
): Promise<WrittenObject> {
  const digests = bodyDigests(headers);
  const body: BodySource = {
    async read(maxBytes) {
      const bytes = await source.read(maxBytes);
      if (bytes) digests.update(bytes);
      return bytes;
    },
    stop: () => source.stop(),
  };
  const cancellation = new AbortController();
  const cancel = (error: unknown) => {
    cancellation.abort(error);
    source.stop();
  };
  const client = caller.signal;
  const signal = AbortSignal.any([cancellation.signal, ...client ? [client] : []]);
  try {
    using buffers = sizes.pool.lease(signal);
    const parts = lengthBytes === null
      ? partsOfUnknownLength(body, buffers, sizes)
      : partsOfKnownLength(body, lengthBytes, Math.max(sizes.knownPartBytes, Math.ceil(lengthBytes / sizes.maxParts)));
    const first = await parts.next();
    if (first.done || (first.value.isLast && (first.value.isBytes || !await s3.mayTruncate?.(hasDigest(headers))))) {
      using part = first.value;
      const content = part?.content() ?? { body: null, lengthBytes: 0 };
      return await putObject(s3, caller, target, { ...content, headers });
    }
    const described = selected(headers, (name) => !WRITE_CONDITIONS.includes(name) && !(name in DIGESTS));
    await using upload = await openUpload(s3, caller, target, described).catch(async (error) => {
      const isMissing = error instanceof S3Failure && (error.storeStatus === 501 || error.storeStatus === 405);
      throw isMissing && await s3.mayTruncate?.(false) ? new HttpError(501, NO_SAFE_UPLOAD, { cause: error }) : error;
    });
    const sent: SentPart[] = [];
    for (let next: IteratorResult<Part, undefined> = first; !next.done;) {
      using part: Part = next.value;
      const content = { number: sent.length + 1, ...part.content() };
      const sending: Promise<SentPart> = sendPart(s3, { ...caller, signal }, upload, content)
        // The last chunk may still be in flight: the next part must not wait for its buffer.
        .finally(() => part[Symbol.dispose]());
      // Meanwhile the next part is read into the buffers that this one releases.
      const [sentPart, following] = await allOrAbort(sending, parts.next(), cancel);
      sent.push(sentPart);
      next = following;
    }
    digests.check();
    return await upload.complete({
      parts: sent,
      conditions: selected(headers, (name) => WRITE_CONDITIONS.includes(name)),
    });
  } catch (error) {
    cancel(error);
    const cause = cancellation.signal.reason;
    throw client?.aborted && !(cause instanceof HttpError) ? clientClosedRequest(cause) : cause;
  }
}

/** Waits for both promises, so that neither outlives the call. When one fails, `cancel` ends the other. */
async function allOrAbort<A, B>(
  one: Promise<A>,
  other: Promise<B>,
  cancel: (error: unknown) => void,
): Promise<[A, B]> {
  const both = [one, other] as const;
  for (const promise of both) promise.catch(cancel);
  await Promise.allSettled(both);
  return await Promise.all(both);
}

function hasDigest(headers: HeaderRecord): boolean {
  return Object.keys(headers).some((name) => name in DIGESTS);
}

function selected(headers: HeaderRecord, isSelected: (name: string) => boolean): HeaderRecord {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSelected(name)));
}

/**
 * Largest body that is read here, bytes. The runtime passes bodies on in large chunks, after which their connections cannot
 * be reused: too expensive for many small bodies.
 */
const READ_HERE_BYTES = 64 * 1024;

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

/** Digests of a whole body by request header (S3 API, checking object integrity). */
const DIGESTS: Readonly<Record<string, DigestAlgorithm>> = {
  "content-md5": "md5",
  "x-amz-checksum-sha1": "sha1",
  "x-amz-checksum-sha256": "sha256",
  "x-amz-checksum-crc32": "crc32",
  "x-amz-checksum-crc32c": "crc32c",
  "x-amz-checksum-crc64nvme": "crc64nvme",
};

/**
 * The digests of a body that goes in parts. The store never has the body in one request, so the digests that the client
 * sent for it are checked here.
 */
function bodyDigests(headers: HeaderRecord) {
  const stated = Object.entries(DIGESTS).flatMap(([name, algorithm]) => {
    const value = headers[name];
    return value === undefined ? [] : [{ name, value: value.trim(), digest: startDigest(algorithm) }];
  });
  return {
    update(bytes: Uint8Array): void {
      for (const { digest } of stated) digest.update(bytes);
    },
    /** @throws HttpError 400 naming the header whose digest is not that of the bytes */
    check(): void {
      for (const { name, value, digest } of stated) {
        if (Uint8Array.fromHex(digest.hex()).toBase64() !== value) {
          throw badRequest(`${name}: does not match the body`);
        }
      }
    },
  };
}

/** Longest part in a form, bytes: its length is known only at its end, so it is in memory before it is sent. */
export const MAX_FORM_PART_BYTES = 64 * 1024 * 1024;

interface SourcePart {
  readonly number: number;
  readonly source: BodySource;
  /** A known upper limit of its length; null: none. */
  readonly atMostBytes: number | null;
}

/**
 * Sends one part of an upload from a source of unknown length.
 *
 * @throws HttpError 413 above {@link MAX_FORM_PART_BYTES}, 503 when no memory becomes free, else as {@link sendPart}
 */
export async function sendPartFromSource(
  s3: S3,
  caller: Caller,
  upload: OpenUpload,
  { number, source, atMostBytes }: SourcePart,
): Promise<SentPart> {
  using buffers = UPLOAD_SIZES.pool.lease(caller.signal);
  using part = new BufferedPart(buffers);
  try {
    await part.fill(source, Math.min(atMostBytes ?? MAX_FORM_PART_BYTES, MAX_FORM_PART_BYTES));
    if (!part.isLast && await source.read(1) !== null) throw payloadTooLarge(MAX_FORM_PART_BYTES);
    return await sendPart(s3, caller, upload, { number, ...part.content() });
  } finally {
    source.stop();
  }
}
