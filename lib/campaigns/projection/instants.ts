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
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    return null;
  }
  const offset = offsetMinutes(match[8]);
  if (offset === null) return null;
  const fraction = match[7] ? Number(`0.${match[7]}`) * 1000 : 0;
  return date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 +
    fraction;
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
