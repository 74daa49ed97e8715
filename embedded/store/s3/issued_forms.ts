/** The characters of a version id; those of the embedded store itself are numbers, or `null`. */
export const VERSION_ID = "^[A-Za-z0-9]{1,64}$";

/** The last version of a page. */
export const VERSION_ID_MARKER = "^(?:null|[1-9][0-9]{0,15})$";

/** Base64url whose spare bits are 0: each token has one spelling. */
const CONTINUATION_TOKEN = "^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$";

/** The forms of ids and tokens that the embedded store issues, and that clients send back. */
export const EMBEDDED_FORMS = {
  versionId: VERSION_ID,
  versionIdMarker: `^$|${VERSION_ID_MARKER}`,
  continuationToken: CONTINUATION_TOKEN,
} as const;
