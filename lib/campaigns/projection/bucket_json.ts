/** A number that was written with a fraction or an exponent: 1000.0 is not a count of pages. */
export class Fraction {
  constructor(readonly value: number) {}
}

/**
 * Parses JSON that a worker wrote, a file of the bucket or a termination message; undefined when it is invalid.
 * Integers become numbers, other numbers become `Fraction`. Workers use a library that also writes `NaN` and `Infinity`:
 * those become a fraction that is not finite, so that one bad score does not invalidate the rest of the file.
 */
export function parseBucketJson(body: Uint8Array | string): unknown {
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
    return parsed(text);
  } catch {
    return undefined;
  }
}

/** The value as an integer, also one beyond 2^53 but not beyond all numbers; null for everything else, booleans included. */
export function integerOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The value as a finite number; null for everything else. */
export function numberOf(value: unknown): number | null {
  const number = value instanceof Fraction ? value.value : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, markFractions);
  } catch (error) {
    if (!(error instanceof SyntaxError) || !/NaN|Infinity/.test(text)) {
      throw error;
    }
    return JSON.parse(text.replace(STRING_OR_NOT_FINITE, finiteSpelling), markFractions);
  }
}

/** Matches a string to its end, closed or not: the pattern cannot backtrack, so it stays linear. */
const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\[^]?)*"?|-?Infinity|NaN/g;

function finiteSpelling(token: string): string {
  return token.startsWith('"') ? token : "1e999";
}

function markFractions(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  return /^-?\d+$/.test(context?.source ?? "") ? value : new Fraction(value);
}
