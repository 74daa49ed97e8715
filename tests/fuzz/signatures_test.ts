import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import fc from "fast-check";
import assert from "node:assert/strict";
import { withHeadersOfQuery } from "@/embedded/store/s3/request_headers.ts";
import { parseS3Request, type S3Request } from "@/embedded/store/s3/s3_request.ts";
import { signatureV2Holds, statedSignatureV2 } from "@/embedded/store/s3/sigv2.ts";
import { matchSignature, statedSignature } from "@/embedded/store/s3/sigv4.ts";
import { bodyReader } from "@/lib/runtime/http.ts";
import { presignQuery } from "@/lib/s3/s3_client.ts";
import { fuzz, isStoreError, near, nearHeader, resultOr } from "./hostile.ts";

const NOW = Date.UTC(2026, 10, 20, 7, 31, 17);
const KEYS = { accessKey: "dGVzdHVzZXI=", secretKey: "179ad45c6ce2cb97cf1029e212046e81" };

const sdk = new S3Client({
  endpoint: "http://store:8001",
  region: "us-east-1",
  forcePathStyle: true,
  credentials: { accessKeyId: KEYS.accessKey, secretAccessKey: KEYS.secretKey },
});
const date = { signingDate: new Date(NOW) };
const URLS = [
  await getSignedUrl(
    sdk,
    new GetObjectCommand({ Bucket: "b", Key: "a dir/å+b?.txt", ResponseContentType: "a/b" }),
    date,
  ),
  await getSignedUrl(sdk, new PutObjectCommand({ Bucket: "b", Key: "k", Metadata: { a: "b" } }), date),
  `http://store:8001/b/a%2Fb?${
    presignQuery(
      { method: "GET", host: "store:8001", path: "/b/a%2Fb", query: [] },
      { keys: KEYS, region: "us-east-1", now: NOW },
      9,
    )
  }`,
  "http://store:8001/b/k?AWSAccessKeyId=dGVzdHVzZXI%3D&Signature=c2lnbmF0dXJl&Expires=1795159000",
];
const TARGETS = URLS.map((url) => url.slice("http://store:8001".length));
const WORDS = [
  ...["&", "&X-Amz-Signature=", "&X-Amz-Expires=604801", "%2F", "&x-amz-acl=public-read", "/../", "+"],
  ...["&versionId=1", "X-Amz-SignedHeaders=host%3Bx", "X-Amz-Date=20991120T073117Z", "X-Amz-Credential=", "Expires="],
  ...["%00"],
];

/** The request as the embedded store reads it; null where there can be none. */
function parsed(target: string, method: string, headers: Record<string, string> = {}): S3Request | null {
  const url = `http://store:8001/${target.replace(/^\//, "")}`;
  const request = resultOr(
    () => new Request(url, { method, headers: { host: "store:8001", ...headers } }),
    (error) => error instanceof TypeError,
  );
  return request && resultOr(() => parseS3Request(request, bodyReader), isStoreError);
}

function holds(request: S3Request): boolean {
  const stated = resultOr(() => statedSignature(request, NOW), isStoreError);
  const statedV2 = resultOr(() => statedSignatureV2(request, NOW), isStoreError);
  return (stated !== null && matchSignature(request, stated, KEYS.secretKey) !== null) ||
    (statedV2 !== null && signatureV2Holds(request, statedV2, KEYS.secretKey));
}

/** What a request means to the store: all that a signature has to cover. */
function meaning(request: S3Request): string {
  const { method, bucket, key, query } = request;
  return JSON.stringify([method, bucket, key, [...query].filter(([name]) => name !== "X-Amz-Signature").sort()]);
}

const GENUINE = new Set(
  TARGETS.slice(0, 3).flatMap((target, index) => {
    const request = parsed(target, index === 1 ? "PUT" : "GET");
    assert.ok(request && holds(request), target);
    return [meaning(request)];
  }),
);

fuzz("presigned URLs", {
  inputs: fc.tuple(near(TARGETS, WORDS), fc.constantFrom("GET", "PUT", "DELETE", "HEAD", "POST")),
  check([target, method]) {
    const request = parsed(target, method);
    if (request === null) return;
    if (holds(request)) assert.ok(GENUINE.has(meaning(request)), `${method} ${target} is another request`);
    const moved = resultOr(() => withHeadersOfQuery(request), isStoreError);
    if (moved) assert.equal(moved.method, method);
  },
  growth: {
    seeds: TARGETS,
    words: [...WORDS, "&a=b", "&§", "&x-amz-§=1", "host;", "x-§;"],
    read(text) {
      const request = parsed(text, "GET");
      return request && [holds(request), resultOr(() => withHeadersOfQuery(request), isStoreError)];
    },
  },
});

const AUTHORIZATIONS = [
  "AWS4-HMAC-SHA256 Credential=dGVzdHVzZXI=/20261120/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;" +
  "x-amz-date, Signature=" + "0".repeat(64),
  "AWS dGVzdHVzZXI=:c2lnbmF0dXJl",
];

fuzz("signatures in headers", {
  inputs: fc.record({
    authorization: nearHeader(AUTHORIZATIONS, ["Credential=", "SignedHeaders=host", ",", "/s3/aws4_request"]),
    "x-amz-date": nearHeader(["20261120T073117Z", "20269920T073117Z"]),
    date: nearHeader(["Fri, 20 Nov 2026 07:31:17 GMT", "+275760-09-13T00:00:00Z", "-000001-01-01T00:00:00Z"]),
    "x-amz-content-sha256": nearHeader(["UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"]),
  }, { requiredKeys: ["authorization"] }),
  check(headers) {
    const request = parsed("/b/k", "GET", headers as Record<string, string>);
    if (request) assert.equal(holds(request), false);
  },
  growth: {
    seeds: AUTHORIZATIONS,
    words: ["host;", ", "],
    read(text) {
      const request = parsed("/b/k", "GET", { authorization: text.replace(/[^\x20-\x7e]/g, "") });
      return request && holds(request);
    },
  },
});
