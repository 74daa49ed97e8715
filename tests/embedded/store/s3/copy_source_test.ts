import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCopySource } from "@/embedded/store/s3/copy_source.ts";
import { S3Error } from "@/embedded/store/s3/s3_error.ts";

Deno.test("copy source: every key comes back from its percent-encoding, with and without a version", () => {
  const key = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.isWellFormed());
  fc.assert(fc.property(key, fc.boolean(), fc.option(fc.stringMatching(/^[0-9]{1,16}$/)), (key, slash, version) => {
    const encoded = key.split("/").map(encodeURIComponent).join("/");
    const header = `${slash ? "/" : ""}bucket/${encoded}${version === null ? "" : `?versionId=${version}`}`;
    assert.deepEqual(parseCopySource(header), { bucket: "bucket", key, version });
  }));
});

Deno.test("copy source: what names no bucket and key is rejected", () => {
  for (
    const header of [
      "",
      "/",
      "bucket",
      "bucket/",
      "//key",
      "bucket/%zz",
      "bucket/%ff",
      "bucket/k?versionId=",
      "bucket/k?versionId=a_b",
    ]
  ) {
    const refused = (error: unknown) => error instanceof S3Error && error.code === "InvalidArgument";
    assert.throws(() => parseCopySource(header), refused, header);
  }
});
