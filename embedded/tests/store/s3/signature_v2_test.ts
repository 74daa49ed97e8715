import { CreateBucketCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { signatureV2Holds, statedSignatureV2 } from "@/embedded/store/s3/sigv2.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { s3Keys, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { bodyReader } from "@/lib/runtime/http.ts";
import { codeOf } from "./signed_fetch.ts";

/** The keys of the examples in the S3 API reference, Signing and authenticating REST requests. */
const EXAMPLE = { accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };

function verdict(request: Request, nowMs: number, secretKey = EXAMPLE.secretKey): boolean | string {
  const parsed = parseS3Request(request, bodyReader);
  try {
    const stated = statedSignatureV2(parsed, nowMs);
    return stated === null ? "none" : signatureV2Holds(parsed, stated, secretKey);
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
}

Deno.test("Signature Version 2: the examples of the S3 API reference hold, and no request that differs from them", () => {
  const examples: [method: string, path: string, date: string, signature: string, more?: Record<string, string>][] = [
    ["GET", "/johnsmith/photos/puppy.jpg", "Tue, 27 Mar 2007 19:36:42 +0000", "bWq2s1WEIj+Ydj0vQ697zp+IXMU="],
    [
      "PUT",
      "/johnsmith/photos/puppy.jpg",
      "Tue, 27 Mar 2007 21:15:45 +0000",
      "MyyxeRY7whkBe+bq8fHCL/2kKUg=",
      { "content-type": "image/jpeg" },
    ],
    [
      "GET",
      "/johnsmith/?prefix=photos&max-keys=50&marker=puppy",
      "Tue, 27 Mar 2007 19:42:41 +0000",
      "htDYFYduRNen8P9ZfE/s9SuKy0U=",
    ],
    ["GET", "/johnsmith/?acl", "Tue, 27 Mar 2007 19:44:46 +0000", "c2WLPFtWHVgbEmeEG93a4cG37dM="],
    // As botocore sends it: signed with a slash behind the bucket, which is not on the wire.
    ["GET", "/johnsmith?acl", "Tue, 27 Mar 2007 19:44:46 +0000", "c2WLPFtWHVgbEmeEG93a4cG37dM="],
    ["GET", "/", "Wed, 28 Mar 2007 01:29:59 +0000", "qGdzdERIC03wnaRNKh6OqZehG9s="],
    [
      "GET",
      "/dictionary/fran%C3%A7ais/pr%c3%a9f%c3%a8re",
      "Wed, 28 Mar 2007 01:49:49 +0000",
      "DNEZGsoieTZ92F3bUfSPQcbGmlM=",
    ],
    [
      "PUT",
      "/static.johnsmith.net/db-backup.dat.gz",
      "Tue, 27 Mar 2007 21:06:08 +0000",
      "ilyl83RwaSoYIEdixDQcA4OnAnc=",
      {
        "x-amz-acl": "public-read",
        "content-type": "application/x-download",
        "content-md5": "4gJE4saaMU4BqNR0kLY+lw==",
        "x-amz-meta-reviewedby": "joe@johnsmith.net, jane@johnsmith.net",
        "x-amz-meta-filechecksum": "0x02661779",
        "x-amz-meta-checksumalgorithm": "crc32",
      },
    ],
  ];
  for (const [method, path, date, signature, more] of examples) {
    const headers = { date, ...more, authorization: `AWS ${EXAMPLE.accessKey}:${signature}` };
    const request = (change: { method?: string; path?: string; headers?: Record<string, string> } = {}) =>
      new Request(`http://store${change.path ?? path}`, {
        method: change.method ?? method,
        headers: { ...headers, ...change.headers },
      });
    const now = Date.parse(date);
    assert.equal(verdict(request(), now), true, path);
    assert.equal(verdict(request(), now, "another secret"), false, path);
    assert.equal(verdict(request({ method: "DELETE" }), now), false, path);
    assert.equal(verdict(request({ path: `/x${path}` }), now), false, path);
    assert.equal(verdict(request({ path: `${path}${path.includes("?") ? "&" : "?"}uploads` }), now), false, path);
    for (const name of ["x-amz-acl", "content-type", "content-md5"]) {
      assert.equal(verdict(request({ headers: { [name]: "another" } }), now), false, name);
    }
    const forged = signature.replace(/^./, (first) => first === "A" ? "B" : "A");
    for (const wrong of [forged, "x", "%%%", signature.slice(0, -4)]) {
      const authorization = `AWS ${EXAMPLE.accessKey}:${wrong}`;
      assert.equal(verdict(request({ headers: { authorization } }), now), false, wrong);
    }
  }
});

Deno.test("Signature Version 2: a header's date may be 15 minutes off, an invalid date is AccessDenied", () => {
  const date = "Tue, 27 Mar 2007 19:36:42 +0000";
  const now = Date.parse(date);
  const request = (headers: Record<string, string>) =>
    new Request("http://store/johnsmith/photos/puppy.jpg", {
      headers: { authorization: `AWS ${EXAMPLE.accessKey}:bWq2s1WEIj+Ydj0vQ697zp+IXMU=`, ...headers },
    });
  for (
    const [minutes, expected] of [[14, true], [-14, true], [16, "RequestTimeTooSkewed"], [-16, "RequestTimeTooSkewed"]]
  ) {
    assert.equal(verdict(request({ date }), now + Number(minutes) * 60_000), expected);
  }
  const before1970 = "Tue, 07 Jul 1950 21:53:04 GMT";
  const undated: Record<string, string>[] = [{}, { date: "soon" }, { date: "" }, { date: before1970 }];
  for (const headers of [...undated, { "x-amz-date": "x", date }]) {
    assert.equal(verdict(request(headers), now), "AccessDenied", JSON.stringify(headers));
  }
  for (const authorization of ["AWS", "AWS HAHAHA", "AWS :x", "AWS a:"]) {
    assert.equal(verdict(request({ date, authorization }), now), "InvalidArgument", authorization);
  }
  for (const authorization of ["Bearer x", "", " "]) {
    assert.equal(verdict(request({ authorization }), now), "none");
  }
});

/** A URL signed in its query as botocore signs it: headers that must come along are parameters. */
function presigned(
  origin: string,
  method: string,
  resource: string,
  {
    expires = Math.floor(Date.now() / 1000) + 60,
    more = {},
    secret = s3Keys("curator", SAMPLE_PASSWORD).secretAccessKey,
  }: {
    expires?: number | string;
    more?: Record<string, string>;
    secret?: string;
  } = {},
): string {
  const own = Object.keys(more).filter((name) => name.startsWith("x-amz-")).sort();
  const text = [
    method,
    "",
    more["content-type"] ?? "",
    expires,
    ...own.map((name) => `${name}:${more[name]}`),
    resource,
  ];
  const query = new URLSearchParams({
    AWSAccessKeyId: s3Keys("curator", SAMPLE_PASSWORD).accessKeyId,
    Signature: createHmac("sha1", secret).update(text.join("\n")).digest("base64"),
    Expires: String(expires),
    ...more,
  });
  return `${origin}${resource}${resource.includes("?") ? "&" : "?"}${query}`;
}

storeTest("Signature Version 2: presigned URLs write, read and delete until they expire", async ({ store }) => {
  const origin = store.s3("archive");
  const at = "/letters/a%20note%2B1.txt";
  const put = await fetch(
    presigned(origin, "PUT", at, { more: { "content-type": "text/plain", "x-amz-meta-by": "me" } }),
    {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: "hello",
    },
  );
  assert.equal(await codeOf(put), "none");
  const read = await fetch(presigned(origin, "GET", `${at}?response-content-type=text%2Fcsv`.replace("%2F", "/")));
  assert.deepEqual(
    [read.status, await read.text(), read.headers.get("content-type"), read.headers.get("x-amz-meta-by")],
    [200, "hello", "text/csv", "me"],
  );
  const past = Math.floor(Date.now() / 1000) - 1;
  const outcomes: [url: string, method: string, code: string][] = [
    [presigned(origin, "GET", at, { expires: past }), "GET", "AccessDenied"],
    [presigned(origin, "GET", at, { expires: "soon" }), "GET", "AccessDenied"],
    [presigned(origin, "GET", at, { secret: "another" }), "GET", "SignatureDoesNotMatch"],
    [presigned(origin, "GET", at), "DELETE", "SignatureDoesNotMatch"],
    [
      presigned(origin, "GET", at).replace(/AWSAccessKeyId=[^&]*/, "AWSAccessKeyId=bm9ib2R5"),
      "GET",
      "SignatureDoesNotMatch",
    ],
    [presigned(origin, "GET", at).replace(/AWSAccessKeyId=[^&]*/, "AWSAccessKeyId=!"), "GET", "InvalidAccessKeyId"],
    [presigned(origin, "GET", at).replace(/&Expires=[^&]*/, ""), "GET", "AccessDenied"],
    [presigned(origin, "GET", at).replace(/AWSAccessKeyId=[^&]*&/, ""), "GET", "AccessDenied"],
    [`${presigned(origin, "GET", at)}&uploadId=x`, "GET", "SignatureDoesNotMatch"],
    [`${presigned(origin, "GET", at)}&X-Amz-Algorithm=AWS4-HMAC-SHA256`, "GET", "InvalidArgument"],
    [`${presigned(origin, "GET", at)}&x-amz-acl=public-read`, "GET", "SignatureDoesNotMatch"],
    [presigned(origin, "DELETE", at), "DELETE", "none"],
    [presigned(origin, "GET", at), "GET", "NoSuchKey"],
  ];
  for (const [url, method, code] of outcomes) assert.equal(await codeOf(await fetch(url, { method })), code, url);
});

storeTest("Signature Version 2: requests signed in a header make, fill and list a bucket", async ({ store }) => {
  const origin = store.s3("archive");
  const { accessKeyId, secretAccessKey } = s3Keys("curator", SAMPLE_PASSWORD);
  const send = async (method: string, resource: string, body?: string, headers: Record<string, string> = {}) => {
    // `fetch` sets no Date: S3's own header stands for it.
    const dated: Record<string, string> = { ...headers, "x-amz-date": new Date().toUTCString() };
    const own = Object.keys(dated).filter((name) => name.startsWith("x-amz-")).sort();
    const text = [
      method,
      "",
      headers["content-type"] ?? "",
      "",
      ...own.map((name) => `${name}:${dated[name]}`),
      resource,
    ];
    const signature = createHmac("sha1", secretAccessKey).update(text.join("\n")).digest("base64");
    return await fetch(`${origin}${resource}`, {
      method,
      headers: { ...dated, authorization: `AWS ${accessKeyId}:${signature}` },
      body,
    });
  };
  assert.equal(await codeOf(await send("PUT", "/older-tools")), "none");
  const type = { "content-type": "text/plain", "x-amz-meta-by": "me" };
  assert.equal(await codeOf(await send("PUT", "/older-tools/k", "text", type)), "none");
  assert.match(await (await send("GET", "/older-tools")).text(), /<Key>k<\/Key>/);
  assert.equal((await send("GET", "/older-tools?acl")).status, 200);
  const wrong = { "content-type": "text/plain", "x-amz-content-sha256": "0".repeat(64) };
  assert.equal(await codeOf(await send("PUT", "/older-tools/k", "text", wrong)), "XAmzContentSHA256Mismatch");
  const client = store.client("archive", "curator");
  await client.send(new CreateBucketCommand({ Bucket: "both-kinds" }));
  await client.send(new PutObjectCommand({ Bucket: "both-kinds", Key: "k", Body: "x" }));
  assert.equal(await (await send("GET", "/both-kinds/k")).text(), "x");
});
