import { randomBytes } from "node:crypto";
import { between, pick } from "@/embedded/archive/catalogue.ts";
import { INLINE_LIMIT_BYTES } from "@/embedded/store/bodies.ts";

/** Smallest part but the last, in bytes: 5 MiB (S3 API, multipart upload limits). */
export const MIN_PART_BYTES = 5 * 1024 * 1024;

/** Large enough to be flushed to the disk before its turn in the writer. */
const LARGE_BYTES = 4 * 1024 * 1024 + 1;

const BLOCK = new Uint8Array(randomBytes(MIN_PART_BYTES + 1024));
let made = 0;

/** The size of an object: mostly small, sometimes around the limit from which on bodies are files, rarely large. */
export function wholeSize(random: () => number): number {
  const kind = between(random, 0, 99);
  if (kind < 55) return between(random, 0, 4096);
  if (kind < 70) return pick(random, [INLINE_LIMIT_BYTES, INLINE_LIMIT_BYTES + 1]);
  return kind < 97 ? between(random, INLINE_LIMIT_BYTES, 300_000) : LARGE_BYTES;
}

/** The size of a part: one that others may follow now and then, else like an object. */
export function partSize(random: () => number): number {
  return between(random, 0, 3) === 0 ? MIN_PART_BYTES : wholeSize(random);
}

/** A body that can be made again: no other one has its bytes, as far as its size allows. */
export interface MadeBody {
  readonly serial: number;
  readonly from: number;
  readonly size: number;
}

export function newBody(size: number, random: () => number): MadeBody {
  return { serial: ++made, from: between(random, 0, 1024), size };
}

export function bytesOf({ serial, from, size }: MadeBody): Uint8Array {
  const bytes = BLOCK.slice(from, from + size);
  bytes.set(new TextEncoder().encode(`${serial} `).subarray(0, size));
  return bytes;
}
