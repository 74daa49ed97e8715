/** A CORS rule of a bucket, as the gateway reads and writes it. */
export interface CorsRule {
  readonly ID?: string;
  readonly AllowedHeaders?: readonly string[] | null;
  readonly AllowedMethods?: readonly string[] | null;
  readonly AllowedOrigins?: readonly string[] | null;
  readonly ExposeHeaders?: readonly string[] | null;
  readonly MaxAgeSeconds?: number | null;
}

/** Most rules of a bucket (S3 API, PutBucketCors). */
const MAX_RULES = 100;
/** How long a browser may cache the response to a preflight, seconds. */
const MAX_AGE_SECONDS = 3600;
const ID_PREFIX = "uploads of the storage pages";

/** The rule that lets pages of an origin send parts and read their entity tags. */
function uploadRule(origin: string): CorsRule {
  return {
    ID: `${ID_PREFIX} at ${origin}`.slice(0, 255),
    AllowedHeaders: ["*"],
    AllowedMethods: ["PUT"],
    AllowedOrigins: [origin],
    ExposeHeaders: ["ETag"],
    MaxAgeSeconds: MAX_AGE_SECONDS,
  };
}

/**
 * The rules of a bucket with the one that uploads need, which replaces an earlier one for the same origin. S3 applies
 * the first rule that matches, and another one for the origin may expose no entity tag, so ours is the first.
 *
 * @returns null where the bucket has as many rules as it may
 */
export function withUploadRule(rules: readonly CorsRule[], origin: string): CorsRule[] | null {
  const rule = uploadRule(origin);
  const others = rules.filter(({ ID }) => ID !== rule.ID);
  return others.length < MAX_RULES ? [rule, ...others] : null;
}
