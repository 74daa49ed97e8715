const UNRESERVED = /^[\w.~-]*$/;

/**
 * Percent-encodes all but the unreserved characters of RFC 3986, of which `encodeURIComponent` leaves five more.
 *
 * @throws URIError for a lone surrogate
 */
export function encodeRfc3986(text: string): string {
  if (UNRESERVED.test(text)) return text;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
