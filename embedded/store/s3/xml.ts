/** Whether XML 1.0 can hold a text: all but most control characters and two that are no characters (section 2.2). */
export function fitsXml(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text);
}

/** Text for an XML element or attribute. Characters that XML cannot hold become U+FFFD. */
export function escapeXml(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[&<>"\r]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
    (character) => ENTITIES[character] ?? "\ufffd",
  );
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

/** An XML response of the S3 protocol. */
export function xmlResponse(root: string, content: string, headers: Record<string, string> = {}): Response {
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`,
    { headers: { ...headers, "content-type": "application/xml" } },
  );
}

/** One element with text. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/**
 * An instant as S3's XML spells it: ISO 8601 in UTC, in whole seconds like Last-Modified. Clients that compare the two
 * would otherwise copy an object again and again.
 */
export function xmlTime(ms: number): string {
  // A page shows a thousand of them, and the runtime's own text costs as much as all else of an entry.
  const day = Math.floor(ms / MS_PER_DAY);
  let date = dates.get(day);
  if (date === undefined) {
    if (dates.size === MAX_DATES) dates.clear();
    dates.set(day, date = new Date(day * MS_PER_DAY).toISOString().slice(0, -TIME_CHARACTERS));
  }
  const time = ms - day * MS_PER_DAY;
  const minutes = Math.floor(time / 60_000);
  const seconds = Math.floor(time / 1000) % 60;
  return `${date}${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds]}.000Z`;
}

const MS_PER_DAY = 24 * 60 * 60 * 1000;
const TIME_CHARACTERS = "00:00:00.000Z".length;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, "0"));

/** The texts of days since 1970, with the T behind them. */
const dates = new Map<number, string>();
const MAX_DATES = 1000;
