/** A name of at most 63 lower-case letters, digits and inner hyphens (RFC 1123 label). */
export const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
