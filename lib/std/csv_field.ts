/**
 * What spreadsheets take for a formula: they skip blanks, control and invisible characters before it, and some read
 * full-width and small signs like the plain ones.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫−]|^[\t\r\n]/u;

/** A field of CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvField(value: string | number | boolean | null | undefined): string {
  if (typeof value !== "string") return value === undefined || value === null ? "" : String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
