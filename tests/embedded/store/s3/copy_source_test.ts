import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCopySource } from "@/embedded/store/s3/copy_object.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { utf8Value } from "@/lib/std/header_encoding.ts";

Deno.test("copy source: every key comes back from its percent-encoding, with and without a version", () => {
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
