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
    if (!(error instanceof SyntaxError) || !/NaN|Infinity/.test(text)) throw error;
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

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/**
 * The instant of an ISO 8601 or RFC 3339 text in milliseconds since 1970; null when it is none. A time without a zone
 * is UTC (`Date.parse` would take it for local time and let 30 February pass).
 */
export function instantOf(text: string): number | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  if (year < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const offset = offsetMinutes(match[8]);
  if (offset === null) return null;
  const fraction = match[7] ? Number(`0.${match[7]}`) * 1000 : 0;
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
}

/** An instant (ms since 1970) as RFC 3339 in UTC, in whole seconds. */
export function rfc3339(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, -".000Z".length)}Z`;
}

function offsetMinutes(zone: string | undefined): number | null {
  if (!zone || zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

/** A number rounded to an integer, halves to the even neighbour. */
export function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * A number of 0..1 rounded to four decimals, exact halves to the even neighbour. `toFixed` rounds by the exact binary
 * value too, but takes exact halves up; at four decimals those are the odd multiples of 1/32.
 */
export function roundScore(value: number): number {
  const isHalf = Number.isInteger(value * 32) && Math.abs(value * 32) % 2 === 1;
  return isHalf ? roundToEven(value * 10_000) / 10_000 : Number(value.toFixed(4));
}
