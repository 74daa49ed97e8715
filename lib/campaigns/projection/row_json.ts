import type { RowJson } from "./volume_rows.ts";

/** Most digits of an age: that of a whole number that JSON writes without an exponent. */
const MAX_AGE_DIGITS = 21;
const encoder = new TextEncoder();

/** Texts and rows one after the other as UTF-8, each age in its place. */
export function joinedJson(parts: readonly (string | RowJson)[]): Uint8Array<ArrayBuffer> {
  let room = 0;
  // A character of a text takes three bytes at most.
  for (const part of parts) room += typeof part === "string" ? part.length * 3 : part.bytes.length + MAX_AGE_DIGITS;
  const joined = new Uint8Array(room);
  let end = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      end += encoder.encodeInto(part, joined.subarray(end)).written;
      continue;
    }
    const { bytes, age } = part;
    if (!age) {
      joined.set(bytes, end);
      end += bytes.length;
      continue;
    }
    joined.set(bytes.subarray(0, age.at), end);
    end += age.at;
    const digits = String(age.seconds);
    for (let i = 0; i < digits.length; i++) joined[end++] = digits.charCodeAt(i);
    joined.set(bytes.subarray(age.at), end);
    end += bytes.length - age.at;
  }
  return joined.subarray(0, end);
}
