import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3, type S3 } from "@/lib/s3/client.ts";
import type { VersionRef } from "@/lib/s3/objects.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import type { Digest } from "@/lib/std/digest.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { isTransient } from "@/lib/tasks/task_error.ts";

const MIB = 1024 * 1024;
/** Sizes of parts that clients use, where a store does not say them, bytes. */
const USUAL_SIZES = [5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 250, 256, 500, 512, 1024].map((mib) => mib * MIB);
/** So many of them are tried at once. */
const MAX_GUESSES = 3;

/** The sizes of the parts of an object. */
export interface PartSizes {
  /** Ways in which the object may have been cut; one is right unless they are guessed. */
  readonly layouts: readonly Iterable<number>[];
  /** Whether the store does not say them: a digest that differs proves nothing then. */
  readonly isGuessed: boolean;
}

interface PartedObject extends VersionRef {
  readonly size: number;
  readonly parts: number;
}

/**
 * The sizes of the parts that an object was uploaded in (S3 API, HeadObject with partNumber). Those of the first and the
 * last part say all of them where they are equal, as those of nearly all clients.
 *
 * @param isExact looks at every part: for an object whose digest differs
 * @throws HttpError for errors that may pass, and for rejected credentials
 */
export async function partSizes(s3: S3, caller: Caller, object: PartedObject, isExact: boolean): Promise<PartSizes> {
  const { size, parts } = object;
  if (parts === 1) return said([size]);
  const first = await sizeOfPart(s3, caller, object, 1);
  if (first === null || first > size) return guessed(size, parts);
  if (!isExact) {
    const last = await sizeOfPart(s3, caller, object, parts);
    if (last !== null && last <= first && first * (parts - 1) + last === size) return said(equalParts(first, size));
  }
  const sizes = [first];
  for (let number = 2; number <= parts; number++) {
    const one = await sizeOfPart(s3, caller, object, number);
    if (one === null) return guessed(size, parts);
    sizes.push(one);
  }
  return sizes.reduce((sum, one) => sum + one, 0) === size ? said(sizes) : guessed(size, parts);
}

function said(sizes: Iterable<number>): PartSizes {
  return { layouts: [sizes], isGuessed: false };
}

function guessed(size: number, parts: number): PartSizes {
  const possible = USUAL_SIZES.filter((one) => Math.ceil(size / one) === parts);
  return { layouts: possible.slice(0, MAX_GUESSES).map((one) => equalParts(one, size)), isGuessed: true };
}

/** Parts of one size, but for the last one. */
function equalParts(partBytes: number, size: number): Iterable<number> {
  return {
    *[Symbol.iterator]() {
      for (let left = size; left > 0; left -= partBytes) yield Math.min(left, partBytes);
    },
  };
}

/** The size of one part; null where the store does not say it. */
async function sizeOfPart(s3: S3, caller: Caller, object: PartedObject, number: number): Promise<number | null> {
  const { bucket, key, versionId, size } = object;
  const query: [string, string][] = [["partNumber", String(number)]];
  if (versionId !== undefined) query.push(["versionId", versionId]);
  try {
    const response = await callS3(s3, caller, { operation: "HeadObject", method: "HEAD", bucket, key, query });
    await response.body?.cancel();
    const range = /^bytes \d{1,16}-\d{1,16}\/(\d{1,16})$/.exec(response.headers.get("content-range") ?? "");
    if (range && Number(range[1]) !== size) return null;
    // A store that ignores the number sends the size of the whole object.
    return response.status === 206 || response.headers.has("x-amz-mp-parts-count") ? announcedLength(response) : null;
  } catch (error) {
    const passes = error instanceof HttpError && (isTransient(error) && error.status !== 500 && error.status !== 502);
    if (!(error instanceof HttpError) || passes || error.status === 401 || error.status === 499) throw error;
    return null;
  }
}

/**
 * The digest of the digests of parts, of bytes that arrive in chunks (S3 API, checking object integrity).
 *
 * @param sizes of the parts in their order, bytes
 */
export function startPartsDigest(algorithm: DigestAlgorithm, sizes: Iterable<number>): Digest {
  const whole = startDigest(algorithm);
  const rest = sizes[Symbol.iterator]();
  let part = startDigest(algorithm);
  let next = rest.next();
  let left = next.done ? Infinity : next.value;
  const close = () => {
    whole.update(Buffer.from(part.hex(), "hex"));
    part = startDigest(algorithm);
    next = rest.next();
    left = next.done ? Infinity : next.value;
  };
  return {
    update(bytes) {
      let at = 0;
      while (at < bytes.length) {
        while (left === 0) close();
        const end = Math.min(bytes.length, at + left);
        part.update(bytes.subarray(at, end));
        left -= end - at;
        at = end;
      }
    },
    hex() {
      while (!next.done) close();
      return whole.hex();
    },
  };
}
