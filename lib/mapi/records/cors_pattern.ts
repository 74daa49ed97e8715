/** White space of XML. */
const S = "[ \\t\\r\\n]*";

const element = (name: string, content: string) => `<${name}>${S}${content}${S}</${name}>`;

/** Text with one `*` at most. */
const withWildcard = (character: string) => `(?:${character}+(?:\\*${character}*)?|\\*${character}*)`;

/** A character of a field name (RFC 9110, section 5.1) but `*`, and but `&`, which XML escapes. */
const FIELD_NAME = "[!#$%'+.^_`|~0-9A-Za-z-]";
/** Visible ASCII but `*` and what XML escapes. */
const ORIGIN = "[!-%'-)+-;=?-~]";

const ALLOWED_ORIGIN = element("AllowedOrigin", withWildcard(ORIGIN));
const ALLOWED_METHOD = element("AllowedMethod", "(?:GET|PUT|POST|DELETE|HEAD)");
const HEADER = `(?:${element("AllowedHeader", withWildcard(FIELD_NAME))}|${element("ExposeHeader", `${FIELD_NAME}+`)})`;
const ID = `(?:<ID>[^<>&\\u0000-\\u001f]{0,255}</ID>${S})`;
const MAX_AGE = `(?:${element("MaxAgeSeconds", "[0-9]{1,9}")}${S})`;

const ANY = `(?:(?:${ALLOWED_ORIGIN}|${ALLOWED_METHOD}|${HEADER})${S})*`;
/** An origin and a method at least, in any order. */
const PARTIES = ANY +
  `(?:${ALLOWED_ORIGIN}${S}${ANY}${ALLOWED_METHOD}|${ALLOWED_METHOD}${S}${ANY}${ALLOWED_ORIGIN})${S}${ANY}`;
const RULE =
  `<CORSRule>${S}(?:${ID}?${PARTIES}(?:${MAX_AGE}(?:${HEADER}${S})*)?|${PARTIES}${ID}${MAX_AGE}?)</CORSRule>`;

/**
 * CORS rules in XML, in the orders that S3's documentation and clients write. A regular expression cannot say all that XML
 * allows: the store also takes other orders, references and attributes.
 */
export const CORS_CONFIGURATION = {
  pattern: `^${S}(?:<\\?xml [^<>?]*\\?>${S})?<CORSConfiguration(?: xmlns="[^"<>&]*")?>${S}(?:${RULE}${S}){1,100}` +
    `</CORSConfiguration>${S}$`,
} as const;
