/** The form of a name in which it is compared: tenants, namespaces, users and buckets have case-insensitive names. */
export function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Whether a tenant may have this name: letters, digits and inner hyphens, not `xn--…`. */
export function isHostLabel(name: string, shortest = 1): boolean {
  return name.length >= shortest && name.length <= 63 && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(name) &&
    !/^xn--/i.test(name);
}

/**
 * Whether a namespace or bucket may have this name: 1 to 63 characters of host labels joined by dots, no IPv4 address
 * (S3 API, bucket naming rules). Capital letters are allowed beyond S3's rules, since names compare without case.
 */
export function isBucketName(name: string, shortest = 1): boolean {
  return name.length >= shortest && name.length <= 63 && BUCKET_NAME.test(name) &&
    !/^[0-9]+(?:\.[0-9]+){3}$/.test(name);
}

const BUCKET_NAME =
  /^(?![Xx][Nn]--)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** Whether a name can be one segment of a path: well-formed Unicode, and no dot segment, which clients fold away. */
export function isPathSegment(name: string): boolean {
  return name.isWellFormed() && name !== "." && name !== "..";
}

/** Invisible characters, and blanks that are none, at an end, or twice in a row. */
const DECEPTIVE = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}|^ | $| {2}/u;

/** Whether a name cannot be shown like another one: in form NFKC, which has no full-width characters, without blanks that readers miss. */
export function isDistinctName(name: string): boolean {
  return name === name.normalize("NFKC") && !DECEPTIVE.test(name);
}

/** A page of a list by names: those with a folded prefix. */
export interface NamePage {
  readonly prefix: string;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly count: number;
}

/** The end of a statement that selects a page of a tenant's rows by their column `folded`. */
export function ofNamePage({ isDescending }: NamePage): string {
  return `WHERE tenant = ?1 AND substr(folded, 1, length(?2)) = ?2 ORDER BY folded ${isDescending ? "DESC" : ""}
    LIMIT ?3 OFFSET ?4`;
}

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
