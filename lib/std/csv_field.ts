/** Spreadsheets take what begins with these for a formula: an apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r]/;

/** A field of CSV (RFC 4180). */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (typeof value !== "string") return value === undefined || value === null ? "" : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
