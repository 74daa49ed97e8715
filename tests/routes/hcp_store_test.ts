import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { gatewayTest, s3Error, type Seen } from "./gateway_fixture.ts";

const B = "/api/v1/buckets/b";
const GRANT = { Grantee: { Type: "CanonicalUser", ID: "u" }, Permission: "READ" };

/** Every operation of the gateway that sends the store something other than the bytes of an object, or reads XML of it. */
const OPERATIONS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", "/api/v1/buckets"],
  ["POST", "/api/v1/buckets", { bucket: "bbb" }],
  ["HEAD", B],
  ["DELETE", B],
  ["GET", `${B}/versioning`],
  ["PUT", `${B}/versioning`, { status: "Enabled" }],
  ["GET", `${B}/cors`],
  ["PUT", `${B}/cors`, { CORSRules: [{ AllowedMethods: ["GET"], AllowedOrigins: ["*"] }] }],
  ["DELETE", `${B}/cors`],
  ["GET", `${B}/acl`],
  ["PUT", `${B}/acl`, { Owner: { ID: "o" }, Grants: [GRANT] }],
  ["GET", `${B}/objects/k/acl`],
  ["PUT", `${B}/objects/k/acl`, { Grants: [GRANT] }],
  ["GET", `${B}/tags/k`],
  ["PUT", `${B}/tags/k`, { tags: { a: "b" } }],
  ["DELETE", `${B}/tags/k`],
  ["GET", `${B}/objects`],
  ["GET", `${B}/versions`],
  ["GET", `${B}/uploads`],
  ["DELETE", `${B}/objects/k`],
  ["DELETE", `${B}/objects/k?version_id=7`],
  ["POST", `${B}/objects/delete`, { keys: ["k"] }],
  ["POST", `${B}/objects/k/copy`, { source_bucket: "b", source_key: "s" }],
  ["POST", `${B}/multipart/k`, { checksum_algorithm: "SHA256" }],
  ["GET", `${B}/multipart/k/parts?upload_id=u`],
  ["POST", `${B}/multipart/k/complete`, { upload_id: "u", parts: [{ PartNumber: 1, ETag: "e" }] }],
  ["POST", `${B}/multipart/k/abort`, { upload_id: "u" }],
];

const DOCUMENTS: readonly (readonly [target: RegExp, document: string])[] = [
  [/^\/$/, "<ListAllMyBucketsResult/>"],
  [/\?versioning=/, "<VersioningConfiguration/>"],
  [/\?cors=/, "<CORSConfiguration><CORSRule/></CORSConfiguration>"],
  [/\?acl=/, "<AccessControlPolicy/>"],
  [/\?tagging=/, "<Tagging/>"],
  [/\?versions=/, "<ListVersionsResult/>"],
  [/\/b\?uploads=/, "<ListMultipartUploadsResult/>"],
  [/\/k\?uploads=/, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"],
  [/\?.*list-type=2/, "<ListBucketResult/>"],
  [/\?delete=/, "<DeleteResult/>"],
];

/** What HCP would not take of a request, as a response; null where there is nothing. */
function refusal({ method, target, headers, body }: Seen): Response | null {
  const names = [...headers.keys()];
  const checksum = names.find((name) => /^x-amz-(?:sdk-checksum|checksum-(?!algorithm$)|trailer|te$)/.test(name));
  if (checksum) return s3Error(400, "InvalidRequest", `${checksum} is not known`);
  if (headers.get("x-amz-content-sha256")?.startsWith("STREAMING")) return s3Error(501, "NotImplemented", "chunks");
  if (headers.has("expect") || headers.has("transfer-encoding")) return s3Error(411, "MissingContentLength", "length");
  if (/[?&]x-id=/.test(target)) return s3Error(400, "InvalidArgument", "x-id is not known");
  if (/aws-sdk/i.test(headers.get("user-agent") ?? "") || headers.has("x-amz-user-agent")) {
    return s3Error(400, "InvalidRequest", "another client");
  }
  if (
    !/^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/
      .test(headers.get("authorization") ?? "")
  ) return s3Error(403, "AccessDenied", "not signed");
  if (body !== "" && headers.get("content-md5") !== createHash("md5").update(body).digest("base64")) {
    return s3Error(400, "InvalidRequest", "a required header is missing: Content-MD5");
  }
  if (method !== "GET" && method !== "HEAD" && /^\/b\/\?/.test(target)) return s3Error(400, "InvalidURI", "a slash");
  return null;
}

function accepted({ method, target, headers }: Seen): Response {
  if (method === "HEAD" || method === "DELETE") return new Response(null, { headers: { ETag: '"e"' } });
  if (headers.has("x-amz-copy-source")) return new Response("<CopyObjectResult><ETag>e</ETag></CopyObjectResult>");
  if (target.includes("uploadId=")) {
    return new Response(
      method === "POST"
        ? "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>"
        : "<ListPartsResult/>",
    );
  }
  if (method === "PUT") return new Response(null);
  return new Response(DOCUMENTS.find(([known]) => known.test(target))?.[1] ?? assert.fail(`${method} ${target}`));
}

gatewayTest(
  "a store like HCP: it takes every request, each is sent once, and all are signed",
  async ({ call, answer, seen }) => {
    answer((_, request) => refusal(request) ?? accepted(request));
    for (const [method, path, body] of OPERATIONS) {
      const before = seen.length;
      const response = await call(path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
      const sent = seen.slice(before).map(({ method, target }) => `${method} ${target}`);
      assert.equal(new Set(sent).size, sent.length, `${sent}`);
    }
  },
);

gatewayTest("a store like HCP: a failure is not tried again", async ({ call, answer, seen }) => {
  answer(() => s3Error(503, "SlowDown", "later"));
  for (const [method, path, body] of OPERATIONS) {
    const before = seen.length;
    assert.equal(
      (await call(path, { method, body: body === undefined ? undefined : JSON.stringify(body) })).status,
      503,
      `${method} ${path}`,
    );
    assert.equal(seen.length - before, 1, `${method} ${path}`);
  }
});
