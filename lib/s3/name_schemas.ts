import { Buffer } from "node:buffer";
import { z } from "zod";

/** A bucket's name in whichever store; the document says which names would be something else in a path, and are 400. */
export const bucketName = z.string().min(1).meta({ pattern: "^(?!\\.{1,2}$)[^/]+$", examples: ["notes"] });

/** Whether two names may be of one bucket: some stores, such as the embedded one, compare them without case. */
export function isSameBucket(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.normalize("NFC").toLowerCase());
  return a === b;
}

/** A text that an address can carry: JSON may hold half of a surrogate pair, UTF-8 cannot. */
export const wellFormed = z.string().refine((text) => text.isWellFormed(), "Input should be well-formed Unicode");

/** Longest key in S3, bytes of UTF-8. */
export const MAX_KEY_BYTES = 1024;

/** A key in a body: one that an object can have. */
export const objectKey = wellFormed.min(1).refine(
  (key) => Buffer.byteLength(key) <= MAX_KEY_BYTES,
  `String should have at most ${MAX_KEY_BYTES} bytes of UTF-8`,
).meta({ maxLength: MAX_KEY_BYTES });
