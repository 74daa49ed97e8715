import assert from "node:assert/strict";
import fc from "fast-check";
import { encodedKey, presignQuery, s3Path } from "@/lib/s3/signer.ts";
import { partUrlSigner, urlSigner } from "@/lib/s3/url_signer.ts";

type Headers = Readonly<Record<string, string>>;
type Batch = Parameters<typeof urlSigner>[0];

/** The URLs of paths, and of parts of an upload, each with its headers. */
function urlsOf(batch: Batch, folder: string, paths: readonly (readonly [string, Headers?])[]): string[] {
  const urls: string[] = [];
  const signer = urlSigner<number>(batch, folder, (index, url) => urls[index] = new TextDecoder().decode(url));
  for (const [index, [path, headers]] of paths.entries()) signer.add(index, path, headers);
  signer.flush();
  return urls;
}

function partUrlsOf(
  batch: Batch,
  path: string,
  uploadId: string,
  parts: readonly (readonly [number, Headers?])[],
): string[] {
  const urls: string[] = [];
  const found = (index: number, url: Uint8Array) => urls[index] = new TextDecoder().decode(url);
  const signer = partUrlSigner<number>(batch, path, uploadId, found);
  for (const [index, [part, headers]] of parts.entries()) signer.add(index, part, headers);
  signer.flush();
  return urls;
}

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
  const [put] = urlsOf(BATCH, "/my-bucket/", [[PATH.slice("/my-bucket/".length)]]);
  assert.ok(put.endsWith("&X-Amz-Signature=512e9e33a0bae97302cf3a5a008413fa7944e306c1da470f110580f0c828695f"));
  const [part] = partUrlsOf(BATCH, PATH, "u/1+2", [[3]]);
  assert.ok(part.startsWith(`${ORIGIN}${PATH}?uploadId=u%2F1%2B2&partNumber=3&X-Amz-Algorithm=AWS4-HMAC-SHA256&`));
  assert.ok(part.endsWith("&X-Amz-Signature=73db77d7471c2ac7f9180887025192ff65cc135fd81c177d970d3f27277c3719"));
});

Deno.test("batch of URLs: signs the headers of a body as botocore does", () => {
  const checksum = { "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=" };
  const head = "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=dGVzdHVzZXI%3D%2F20261120%2Fus-east-1%2Fs3" +
    "%2Faws4_request&X-Amz-Date=20261120T073117Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=";
  const typed = { "content-type": "text/plain; charset=utf-8", ...checksum };
  assert.deepEqual(urlsOf(BATCH, "", [[PATH, checksum], [PATH, typed]]), [
    `${ORIGIN}${PATH}${head}host%3Bx-amz-checksum-sha256` +
    "&X-Amz-Signature=3730c82149bec1637cd90409cf6df77f7b798eed2780f27c94135bb4c3ffe443",
    `${ORIGIN}${PATH}${head}content-type%3Bhost%3Bx-amz-checksum-sha256` +
    "&X-Amz-Signature=e2e60a50c296cd00a4d7563bc3f8db7e170e18316bb7577872e25ffb8148035d",
  ]);
  assert.deepEqual(partUrlsOf(BATCH, PATH, "u/1+2", [[3, checksum]]), [
    `${ORIGIN}${PATH}?uploadId=u%2F1%2B2&partNumber=3&${head.slice(1)}host%3Bx-amz-checksum-sha256` +
    "&X-Amz-Signature=3965ddc397bc4bd90e0c69ec91e25e782f872676c2a913ea036e2c2af5d3f96c",
  ]);
});

Deno.test("batch of URLs: the same as one at a time, for any keys, upload and numbers", () => {
  const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
  const longKey = fc.integer({ min: 1, max: 1024 }).map((length) => "\u00e5".repeat(length));
  const seconds = fc.integer({ min: 1, max: 604_800 });
  const value = fc.stringMatching(/^[!-~]{1,40}( [!-~]{1,40})?$/);
  const headers = fc.option(fc.dictionary(fc.constantFrom("content-type", "x-amz-checksum-sha256"), value), {
    nil: undefined,
  });
  // More than are computed at a time, and a rest.
  const keys = fc.array(fc.tuple(fc.oneof(key, longKey), headers), { maxLength: 10 });
  const parts = fc.array(fc.tuple(fc.integer({ min: 1, max: 10_000 }), headers), { maxLength: 10 });
  fc.assert(fc.property(keys, key, key, seconds, parts, (keys, uploaded, uploadId, expires, parts) => {
    const batch = { ...BATCH, origin: "http://[::1]:9000", region: "eu-north-1", expiresSeconds: expires };
    const one = (path: string, query: [string, string][], headers?: Headers) =>
      `${batch.origin}${path}?${
        presignQuery({ method: "PUT", host: "[::1]:9000", path, query }, KEYS, "eu-north-1", expires, NOW, headers)
      }`;
    assert.deepEqual(
      urlsOf(batch, "/bucket-1/", keys.map(([key, headers]) => [encodedKey(key), headers])),
      keys.map(([key, headers]) => one(s3Path("bucket-1", key), [], headers)),
    );
    const path = s3Path("bucket-1", uploaded);
    assert.deepEqual(
      partUrlsOf(batch, path, uploadId, parts),
      parts.map(([part, headers]) => one(path, [["uploadId", uploadId], ["partNumber", String(part)]], headers)),
    );
  }));
});
