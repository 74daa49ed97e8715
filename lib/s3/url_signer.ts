import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { encodeRfc3986 } from "@/lib/std/encode_rfc3986.ts";
import { digestWords, hashPrefix, hexOf, hmacAfter } from "@/lib/std/sha256.ts";
import { ALGORITHM, amzDate, sha256Hex, signingKey, UNSIGNED_PAYLOAD } from "./signer.ts";

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

/** A signer of many presigned URLs, equal to those of `presignQuery`: what they share is hashed once. */
export function urlSigner(batch: UrlBatch): (path: string) => string {
  const { origin, method } = batch;
  const { query, host, sign } = shared(batch);
  const end = `\n${query}\n${host}`;
  return (path) => `${origin}${path}?${query}&X-Amz-Signature=${sign(sha256Hex(`${method}\n${path}${end}`))}`;
}

/** A signer of the parts of one upload, by their numbers. */
export function partUrlSigner(batch: UrlBatch, path: string, uploadId: string): (partNumber: number) => string {
  const { query, host, sign } = shared(batch);
  const upload = encodeRfc3986(uploadId);
  const beginning = hashPrefix(`${batch.method}\n${path}\n${query}&partNumber=`);
  const end = `&uploadId=${upload}\n${host}`;
  const head = `${batch.origin}${path}?uploadId=${upload}&partNumber=`;
  const tail = `&${query}&X-Amz-Signature=`;
  return (partNumber) => head + partNumber + tail + sign(hexOf(digestWords(partNumber + end, beginning)));
}

function shared({ origin, keys, region, expiresSeconds, now }: UrlBatch) {
  const date = amzDate(now);
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const query = `X-Amz-Algorithm=${ALGORITHM}&X-Amz-Credential=${encodeRfc3986(`${keys.accessKey}/${scope}`)}` +
    `&X-Amz-Date=${date}&X-Amz-Expires=${expiresSeconds}&X-Amz-SignedHeaders=host`;
  const hmac = hmacAfter(
    signingKey(keys, date.slice(0, 8), region),
    `${ALGORITHM}\n${date}\n${scope}\n`,
  );
  return {
    query,
    host: `host:${new URL(origin).host}\n\nhost\n${UNSIGNED_PAYLOAD}`,
    sign: (digest: string) => hexOf(hmac(digest)),
  };
}
