import assert from "node:assert/strict";
import fc from "fast-check";
import { presignQuery, s3Path } from "@/lib/s3/signer.ts";
import { partUrlSigner, urlSigner } from "@/lib/s3/url_signer.ts";

const KEYS = { accessKey: "dGVzdHVzZXI=", secretKey: "179ad45c6ce2cb97cf1029e212046e81" };
const NOW = Date.UTC(2026, 10, 20, 7, 31, 17);
const ORIGIN = "https://dev-ai.hcp.example.com";
const PATH = "/my-bucket/a%20dir/%C3%A5%2Bb%3F.txt";
const BATCH = {
  method: "PUT",
  origin: ORIGIN,
  keys: KEYS,
  region: "us-east-1",
  expiresSeconds: 3600,
  now: NOW,
} as const;

Deno.test("batch of URLs: reproduces the known signatures", () => {
  const put = urlSigner(BATCH)(PATH);
  assert.ok(put.endsWith("&X-Amz-Signature=512e9e33a0bae97302cf3a5a008413fa7944e306c1da470f110580f0c828695f"));
  const part = partUrlSigner(BATCH, PATH, "u/1+2")(3);
  assert.ok(part.startsWith(`${ORIGIN}${PATH}?uploadId=u%2F1%2B2&partNumber=3&X-Amz-Algorithm=AWS4-HMAC-SHA256&`));
  assert.ok(part.endsWith("&X-Amz-Signature=73db77d7471c2ac7f9180887025192ff65cc135fd81c177d970d3f27277c3719"));
});

Deno.test("batch of URLs: the same as one at a time, for any key, upload and number", () => {
  const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
  const seconds = fc.integer({ min: 1, max: 604_800 });
  fc.assert(fc.property(key, key, seconds, fc.integer({ min: 1, max: 10_000 }), (key, uploadId, expires, number) => {
    const batch = { ...BATCH, origin: "http://[::1]:9000", region: "eu-north-1", expiresSeconds: expires };
    const path = s3Path("bucket-1", key);
    const one = (query: [string, string][]) =>
      `${batch.origin}${path}?${
        presignQuery({ method: "PUT", host: "[::1]:9000", path, query }, KEYS, "eu-north-1", expires, NOW)
      }`;
    assert.equal(urlSigner(batch)(path), one([]));
    const wanted = one([["uploadId", uploadId], ["partNumber", String(number)]]);
    assert.equal(partUrlSigner(batch, path, uploadId)(number), wanted);
  }));
});
