import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import fc from "fast-check";
import { presignQuery, s3Path, signHeaders, signingKey } from "@/lib/s3/s3_client.ts";

const KEYS = { accessKey: "dGVzdHVzZXI=", secretKey: "179ad45c6ce2cb97cf1029e212046e81" };
const NOW = Date.UTC(2026, 10, 20, 7, 31, 17);
const SIGNING = { keys: KEYS, region: "us-east-1", now: NOW };
const HOST = "dev-ai.hcp.example.com";
const KEY = "a dir/å+b?.txt";
const PATH = "/my-bucket/a%20dir/%C3%A5%2Bb%3F.txt";

Deno.test("presign: reproduces the known signatures", () => {
  assert.equal(s3Path("my-bucket", KEY), PATH);
  const head =
    "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=dGVzdHVzZXI%3D%2F20261120%2Fus-east-1%2Fs3%2Faws4_request" +
    "&X-Amz-Date=20261120T073117Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=";
  const query = (method: string, query: [string, string][]) =>
    presignQuery({ method, host: HOST, path: PATH, query }, SIGNING, 3600);
  assert.equal(query("GET", []), head + "a6fb0582e8cddbd26fd631380b3fe9d37c3e7788458366aa79438a2251889ad7");
  assert.equal(query("PUT", []), head + "512e9e33a0bae97302cf3a5a008413fa7944e306c1da470f110580f0c828695f");
  const part = query("PUT", [["uploadId", "u/1+2"], ["partNumber", "3"]]);
  assert.equal(
    part,
    "uploadId=u%2F1%2B2&partNumber=3&" + head + "73db77d7471c2ac7f9180887025192ff65cc135fd81c177d970d3f27277c3719",
  );
});

const SDK = {
  region: "eu-north-1",
  forcePathStyle: true,
  credentials: { accessKeyId: "AK", secretAccessKey: "SK" },
  requestChecksumCalculation: "WHEN_REQUIRED" as const,
  responseChecksumValidation: "WHEN_REQUIRED" as const,
};
const sdk = new S3Client({ ...SDK, endpoint: `https://${HOST}:8443` });

/** Keys that survive the SDK: it folds dot segments, which we sign as they stand. */
const keys = fc.string({ unit: "binary", minLength: 1, maxLength: 40 })
  .map((key) => key.replaceAll("\0", "0"))
  .filter((key) => key.isWellFormed() && !key.split("/").some((part) => part === "." || part === ".."));

Deno.test("presign: agrees with the AWS SDK for any key", async () => {
  await fc.assert(
    fc.asyncProperty(keys, fc.integer({ min: 1, max: 604_800 }), fc.boolean(), async (Key, expiresIn, put) => {
      const input = { Bucket: "bucket-1", Key };
      const command = put ? new PutObjectCommand(input) : new GetObjectCommand(input);
      const url = new URL(await getSignedUrl(sdk, command, { expiresIn, signingDate: new Date(NOW) }));
      const wanted = url.searchParams;
      const operation = wanted.get("x-id");
      const ours = presignQuery(
        {
          method: put ? "PUT" : "GET",
          host: url.host,
          path: s3Path("bucket-1", Key),
          // The SDK adds these to every URL; given the same query, the signatures must be the same.
          query: [...wanted].filter(([name]) => !name.startsWith("X-Amz-") || name.startsWith("X-Amz-Content")),
        },
        { keys: { accessKey: "AK", secretKey: "SK" }, region: "eu-north-1", now: NOW },
        expiresIn,
      );
      assert.ok(operation);
      assert.equal(url.pathname, s3Path("bucket-1", Key));
      assert.equal(new URLSearchParams(ours).get("X-Amz-Signature"), wanted.get("X-Amz-Signature"), Key);
    }),
    { numRuns: 100 },
  );
});

Deno.test("presign: agrees with the AWS SDK where a checksum and a content type are signed", async () => {
  const digest = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString("base64"));
  const type = fc.stringMatching(/^[!-~]{1,20}( [!-~]{1,20})?$/);
  await fc.assert(
    fc.asyncProperty(keys, digest, fc.option(type), async (Key, ChecksumSHA256, type) => {
      const command = new PutObjectCommand({ Bucket: "bucket-1", Key, ChecksumSHA256, ContentType: type ?? undefined });
      const url = new URL(
        await getSignedUrl(sdk, command, {
          expiresIn: 60,
          signingDate: new Date(NOW),
          unhoistableHeaders: new Set(["x-amz-checksum-sha256"]),
          signableHeaders: new Set(type === null ? ["host"] : ["host", "content-type"]),
        }),
      );
      const query = [...url.searchParams].filter(([name]) => !/^X-Amz-(?!Content)/.test(name));
      const request = { method: "PUT", host: url.host, path: s3Path("bucket-1", Key), query };
      const headers = { ...type === null ? {} : { "content-type": type }, "x-amz-checksum-sha256": ChecksumSHA256 };
      const signing = { keys: { accessKey: "AK", secretKey: "SK" }, region: "eu-north-1", now: NOW };
      const ours = new URLSearchParams(presignQuery(request, signing, 60, headers));
      for (const name of ["X-Amz-SignedHeaders", "X-Amz-Signature"]) {
        assert.equal(ours.get(name), url.searchParams.get(name), `${name} of ${JSON.stringify([Key, type])}`);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("headers: agree with what the AWS SDK signs", async () => {
  const sent: { headers: Headers; url: string }[] = [];
  const sink = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    await request.bytes();
    sent.push({ headers: new Headers(request.headers), url: request.url });
    return new Response(null, { headers: { ETag: '"x"' } });
  });
  const client = new S3Client({ ...SDK, endpoint: `http://127.0.0.1:${sink.addr.port}` });
  client.middlewareStack.addRelativeTo(withoutTransportHeaders, {
    relation: "before",
    toMiddleware: "httpSigningMiddleware",
  });
  for (const key of ["plain", "a//b/", "å + ü?#&=%", "(it's)!*"]) {
    const input = { Bucket: "b", Key: key, Body: "x", ContentType: "text/plain", Metadata: { a: "b  c" } };
    await client.send(new PutObjectCommand(input));
    const { headers, url } = sent[sent.length - 1];
    const names = /SignedHeaders=([^,]+)/.exec(headers.get("authorization") ?? "")?.[1].split(";") ?? [];
    const ours: Record<string, string> = {};
    for (const name of names.filter((name) => name !== "host")) ours[name] = headers.get(name) ?? "";
    const { host, searchParams } = new URL(url);
    signHeaders(
      { method: "PUT", host, path: s3Path("b", key), query: [...searchParams] },
      ours,
      headers.get("x-amz-content-sha256") ?? "",
      {
        keys: { accessKey: "AK", secretKey: "SK" },
        region: "eu-north-1",
        now: Date.parse((headers.get("x-amz-date") ?? "").replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5")),
      },
    );
    assert.equal(ours["authorization"], headers.get("authorization"), key);
  }
  client.destroy();
  await sink.shutdown();
});

Deno.test("headers: what is signed are their bytes, as they are sent", () => {
  const title = "Sjömanshuset";
  const headers: Record<string, string> = { "x-amz-meta-title": Buffer.from(title, "utf8").toString("latin1") };
  signHeaders(
    { method: "PUT", host: HOST, path: PATH, query: [] },
    headers,
    "UNSIGNED-PAYLOAD",
    SIGNING,
  );
  const names = "host;x-amz-content-sha256;x-amz-date;x-amz-meta-title";
  const canonical = `PUT\n${PATH}\n\nhost:${HOST}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\n` +
    `x-amz-date:20261120T073117Z\nx-amz-meta-title:${title}\n\n${names}\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n20261120T073117Z\n20261120/us-east-1/s3/aws4_request\n` +
    createHash("sha256").update(canonical, "utf8").digest("hex");
  const { key } = signingKey(KEYS, "20261120", "us-east-1");
  const signature = createHmac("sha256", key).update(text).digest("hex");
  assert.ok(headers.authorization.endsWith(`SignedHeaders=${names}, Signature=${signature}`), headers.authorization);
});

/** The SDK signs every header there is; before it does, those go that our signer leaves to the transport. */
function withoutTransportHeaders<Args extends object, Out>(next: (args: Args) => Promise<Out>) {
  return (args: Args): Promise<Out> => {
    const headers: unknown = Reflect.get(Object(Reflect.get(args, "request")), "headers");
    for (const name of ["amz-sdk-invocation-id", "amz-sdk-request", "content-length"]) {
      Reflect.deleteProperty(Object(headers), name);
    }
    return next(args);
  };
}
