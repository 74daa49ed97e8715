import { clip, isLonger } from "@/lib/std/untrusted.ts";

/** Controls, what turns the direction of a text or hides in it, line ends, and halves of surrogate pairs. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/**
 * A text as one line that may stand in a header or in a terminal: each run of control characters is one blank.
 *
 * @param max characters; a longer text ends with `…`
 */
export function plainLine(text: string, max: number): string {
  // Cut first, so that a text of megabytes is not gone through.
  const plain = clip(text, 2 * max).replace(NOT_PLAIN, " ").trim();
  return isLonger(plain, max) ? `${clip(plain, max - 1)}…` : plain;
}
