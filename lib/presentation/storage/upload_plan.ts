const MIB = 1024 * 1024;

/** Longest file that is sent by one PUT, bytes. */
export const SINGLE_PUT_BYTES = 8 * MIB;
/** Longest object (S3 API), bytes. */
export const MAX_OBJECT_BYTES = 5 * 1024 ** 4;
/** Longest part that is hashed, bytes: Web Crypto digests no streams, so the part is in memory for that time. */
export const MAX_HASHED_BYTES = 64 * MIB;
/** Most parts of an upload (S3 API). */
const MAX_PARTS = 10_000;
/** Length of the parts of most files, bytes: what is sent again after a lost connection, and hashed in memory. */
const PART_BYTES = 16 * MIB;

/** How a file is cut. */
export interface PartPlan {
  readonly fileBytes: number;
  /** Of every part but the last. */
  readonly partBytes: number;
  readonly parts: number;
}

/** Bytes of a file, the end excluded. */
interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** How a file is cut into parts of whole MiB; null for one that is sent by one PUT. */
export function planParts(fileBytes: number): PartPlan | null {
  if (fileBytes <= SINGLE_PUT_BYTES) return null;
  const partBytes = Math.max(PART_BYTES, Math.ceil(fileBytes / MAX_PARTS / MIB) * MIB);
  return { fileBytes, partBytes, parts: Math.ceil(fileBytes / partBytes) };
}

/** The bytes of a part. @param number from 1 on */
export function partSpan({ fileBytes, partBytes }: PartPlan, number: number): ByteSpan {
  return { start: (number - 1) * partBytes, end: Math.min(fileBytes, number * partBytes) };
}
