import fc from "fast-check";
import assert from "node:assert/strict";
import { parseCopySource } from "@/embedded/store/s3/copy_object.ts";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { bodyReader } from "@/lib/runtime/http.ts";
import { utf8Value } from "@/lib/std/header_encoding.ts";

Deno.test("copy source: every key is read from its percent-encoding, with and without a version", () => {
  const key = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.isWellFormed());
  fc.assert(fc.property(key, fc.boolean(), fc.option(fc.stringMatching(/^[0-9]{1,16}$/)), (key, slash, version) => {
    const encoded = key.split("/").map(encodeURIComponent).join("/");
    const header = `${slash ? "/" : ""}bucket/${encoded}${version === null ? "" : `?versionId=${version}`}`;
    assert.deepEqual(parseCopySource(header), { bucket: "bucket", key, version });
  }));
});

Deno.test("copy source: a plus is a blank, and the slash after the bucket may be encoded", () => {
  const named = { bucket: "b", key: "a b+c%41/å", version: null };
  for (
    const header of [
      "b/a+b%2Bc%2541/%C3%A5",
      "b%2Fa+b%2Bc%2541%2F%C3%A5",
      utf8Value("/b%2fa%20b%2Bc%2541%2få"),
      "%2Fb/a+b%2Bc%2541/å",
    ]
  ) {
    assert.deepEqual(parseCopySource(header), named, header);
  }
  assert.deepEqual(parseCopySource("b%2Fk%3FversionId%3D1?versionId=2"), {
    bucket: "b",
    key: "k?versionId=1",
    version: "2",
  });
  assert.deepEqual(parseCopySource("b//k?x"), { bucket: "b", key: "/k?x", version: null });
});

Deno.test("copy source: what names no bucket and key is rejected", () => {
  for (
    const header of [
      "",
      "/",
      "bucket",
      "bucket/",
      "//key",
      "bucket%2F",
      "%2F%2Fkey",
      "bucket/%zz",
      "bucket/%ff",
      "bucket/k?versionId=",
      "bucket/k?versionId=a_b",
    ]
  ) {
    const refused = (error: unknown) => error instanceof StoreError && error.code === "InvalidArgument";
    assert.throws(() => parseCopySource(header), refused, header);
  }
});

Deno.test("S3 request: a key is decoded once, with its dots and slashes as they are", () => {
  const key = (path: string) => parsed(path).key;
  assert.equal(key("/b/a%252Fb"), "a%2Fb");
  assert.equal(key("/b/a//b/"), "a//b/");
  assert.equal(key("/b/a+b%20c"), "a+b c");
  assert.throws(() => parsed("/b/%zz"), { code: "InvalidURI" });
  assert.throws(() => parsed("/b/%C3"), { code: "InvalidURI" });
  assert.throws(() => parsed(`/b/${"x".repeat(1025)}`), { code: "KeyTooLongError" });
});

function parsed(path: string) {
  return parseS3Request(new Request(`http://h${path}`), bodyReader);
}
