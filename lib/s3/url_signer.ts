import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { encodeRfc3986 } from "@/lib/std/encode_rfc3986.ts";
import { type HashedPrefix, hashPrefix, Hmac } from "@/lib/std/sha256.ts";
import type { HeaderRecord } from "./client.ts";
import { ALGORITHM, amzDate, canonicalHeaders, hostOf, sha256Hex, signingKey, UNSIGNED_PAYLOAD } from "./signer.ts";

/** What the URLs of a batch have in common. */
interface UrlBatch {
  readonly method: "GET" | "PUT";
  /** Scheme, host and port, without the scheme's default port. */
  readonly origin: string;
  readonly keys: S3Keys;
  readonly region: string;
  /** Validity, 1 to 604,800 s. */
  readonly expiresSeconds: number;
  /** ms since 1970 */
  readonly now: number;
}

const NO_HEADERS: HeaderRecord = {};

/**
 * A signer of many presigned URLs, equal to those of `presignQuery`: what they share is hashed once. The headers of a URL
 * are signed, and its client must send them as they are.
 */
export function urlSigner(batch: UrlBatch): (path: string, headers?: HeaderRecord) => string {
  const { origin, method } = batch;
  const { hmac, signed } = shared(batch);
  return (path, headers = NO_HEADERS) => {
    const { query, end } = signed(headers);
    return `${origin}${path}?${query}&X-Amz-Signature=${hmac.hex(sha256Hex(`${method}\n${path}\n${query}\n${end}`))}`;
  };
}

/** A signer of the parts of one upload, by their numbers. */
export function partUrlSigner(
  batch: UrlBatch,
  path: string,
  uploadId: string,
): (partNumber: number, headers?: HeaderRecord) => string {
  const { hmac, signed } = shared(batch);
  const upload = encodeRfc3986(uploadId);
  const head = `${batch.origin}${path}?uploadId=${upload}&partNumber=`;
  const beginnings = new Map<string, HashedPrefix>();
  // The same for all parts without headers, so it is joined once.
  let last = { end: "", tail: "" };
  return (partNumber, headers = NO_HEADERS) => {
    const { query, end } = signed(headers);
    let beginning = beginnings.get(query);
    if (!beginning) {
      beginning = hashPrefix(`${batch.method}\n${path}\n${query}&partNumber=`);
      beginnings.set(query, beginning);
    }
    if (last.end !== end) last = { end, tail: `&uploadId=${upload}\n${end}` };
    const signature = hmac.hexOfDigest(beginning, String(partNumber), last.tail);
    return `${head}${partNumber}&${query}&X-Amz-Signature=${signature}`;
  };
}

function shared({ origin, keys, region, expiresSeconds, now }: UrlBatch) {
  const date = amzDate(now);
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const query = `X-Amz-Algorithm=${ALGORITHM}&X-Amz-Credential=${encodeRfc3986(`${keys.accessKey}/${scope}`)}` +
    `&X-Amz-Date=${date}&X-Amz-Expires=${expiresSeconds}&X-Amz-SignedHeaders=`;
  const hmac = new Hmac(
    signingKey(keys, date.slice(0, 8), region),
    `${ALGORITHM}\n${date}\n${scope}\n`,
  );
  const host = hostOf(origin);
  const withHeaders = (headers: HeaderRecord) => {
    const { lines, names } = canonicalHeaders(host, headers, Object.keys(headers));
    return { query: query + encodeRfc3986(names), end: `${lines}\n${names}\n${UNSIGNED_PAYLOAD}` };
  };
  const withoutHeaders = withHeaders(NO_HEADERS);
  return {
    hmac,
    /** The parameters of a URL, and the end of its canonical request after all parameters. */
    signed: (headers: HeaderRecord) => headers === NO_HEADERS ? withoutHeaders : withHeaders(headers),
  };
}
