import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { AwsV4Signer } from "aws4fetch";
import fc from "fast-check";
import assert from "node:assert/strict";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { matchSignature, statedSignature } from "@/embedded/store/s3/sigv4.ts";
import { bodyReader } from "@/lib/runtime/http.ts";

const NOW = Date.UTC(2026, 10, 20, 7, 31, 17);
const keys = { accessKeyId: "dGVzdHVzZXI=", secretAccessKey: "179ad45c6ce2cb97cf1029e212046e81" };
const sdk = new S3Client({
  endpoint: "http://store:8001",
  region: "us-east-1",
  forcePathStyle: true,
  credentials: keys,
});

/** Characters that mean something in a URL or are encoded in two ways, and all others. */
const character = fc.oneof(
  fc.constantFrom(..." +%/?&=#.~!*'(),;:@$a"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
).filter((one) => one.isWellFormed());

/** Keys without segments of dots, which clients and `Request` itself fold. */
const anyKey = fc.string({ unit: character, minLength: 1, maxLength: 40 })
  .filter((key) => !key.split("/").some((part) => part === "." || part === ".."));
const word = fc.string({ unit: character, maxLength: 12 });

function holds(request: Request, secret = keys.secretAccessKey): boolean {
  const parsed = parseS3Request(request, bodyReader);
  const stated = statedSignature(parsed, NOW);
  assert.ok(stated, "the signature is not seen");
  return matchSignature(parsed, stated, secret) !== null;
}

Deno.test("S3 request: any key is read from its path, however much of it is percent-encoded", () => {
  fc.assert(fc.property(anyKey, fc.infiniteStream(fc.boolean()), (key, encodes) => {
    const path = [...new TextEncoder().encode(key)].map((byte) => {
      const character = String.fromCharCode(byte);
      const isPlain = /[A-Za-z0-9_~/!$&'()*+,;=:@-]/.test(character) && !encodes.next().value;
      return isPlain ? character : `%${byte.toString(16).padStart(2, "0")}`;
    }).join("");
    const { bucket, key: read } = parseS3Request(
      new Request(`http://store/bucket/${path}?list-type=2#end`),
      bodyReader,
    );
    assert.deepEqual([bucket, read], ["bucket", key]);
  }));
});

Deno.test("signature in the query: the AWS SDK's is accepted for any key and parameters, and only for these", async () => {
  await fc.assert(
    fc.asyncProperty(anyKey, word, word, async (Key, contentType, disposition) => {
      const command = new GetObjectCommand({
        Bucket: "bucket",
        Key,
        ResponseContentType: contentType,
        ResponseContentDisposition: disposition,
      });
      const url = await getSignedUrl(sdk, command, { signingDate: new Date(NOW) });
      const request = (changed = url, method = "GET") =>
        new Request(changed, { method, headers: { host: new URL(changed).host } });
      assert.equal(holds(request()), true, url);
      assert.equal(holds(request(url.replace("/bucket/", "/bucket/x"))), false, "another key");
      assert.equal(holds(request(url.replace("store:8001", "store:8002"))), false, "another host");
      assert.equal(holds(request(`${url}&versionId=1`)), false, "one parameter more");
      assert.equal(holds(request(url, "DELETE")), false, "another method");
      assert.equal(holds(request(), "another secret"), false);
    }),
    { numRuns: 60 },
  );
});

Deno.test("signature in a header: aws4fetch's is accepted for any query and metadata, and only for these", async () => {
  const ascii = fc.stringMatching(/^[!-~]([ -~]{0,12}[!-~])?$/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word), { maxLength: 4 }), ascii, async (query, metadata) => {
      const url = new URL("http://store:8001/bucket/a%20key");
      for (const [name, value] of query) if (name !== "") url.searchParams.append(name, value);
      const signed = await new AwsV4Signer({
        ...keys,
        url: url.href,
        method: "PUT",
        headers: { "x-amz-meta-a": metadata },
        service: "s3",
        region: "us-east-1",
        datetime: "20261120T073117Z",
        // Otherwise it leaves host out where it cannot be set.
        allHeaders: true,
      }).sign();
      const request = (change: Record<string, string> = {}) => {
        const headers = new Headers(signed.headers);
        headers.set("host", url.host);
        for (const [name, value] of Object.entries(change)) headers.set(name, value);
        return new Request(signed.url, { method: "PUT", headers });
      };
      assert.equal(holds(request()), true, signed.url.href);
      assert.equal(holds(request({ "x-amz-meta-a": `${metadata}x` })), false, "other metadata");
      assert.equal(holds(request({ "x-amz-content-sha256": "0".repeat(64) })), false, "another body");
      assert.equal(holds(request({ host: "another" })), false, "another host");
    }),
    { numRuns: 60 },
  );
});
