import assert from "node:assert/strict";
import fc from "fast-check";
import { S3Error } from "@/embedded/store/s3/s3_error.ts";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { statedSignature } from "@/embedded/store/s3/sigv4.ts";

Deno.test("S3 request: a key is decoded once, with its dots and slashes as they are", () => {
  const key = (path: string) => parsed(path).key;
  assert.equal(key("/b/a%252Fb"), "a%2Fb");
  assert.equal(key("/b/a//b/"), "a//b/");
  assert.equal(key("/b/a+b%20c"), "a+b c");
  assert.throws(() => parsed("/b/%zz"), { code: "InvalidURI" });
  assert.throws(() => parsed("/b/%C3"), { code: "InvalidURI" });
  assert.throws(() => parsed(`/b/${"x".repeat(1025)}`), { code: "KeyTooLongError" });
});

Deno.test("S3 request: hostile authorization headers are rejected by name, never with a fault", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const header = `AWS4-HMAC-SHA256 ${text.replace(/[^\x20-\x7e]/g, "")}`;
    const request = new Request("http://h/b", { headers: { authorization: header } });
    try {
      statedSignature(parseS3Request(request), 0);
    } catch (error) {
      assert.ok(error instanceof S3Error, String(error));
    }
  }));
});

function parsed(path: string) {
  return parseS3Request(new Request(`http://h${path}`));
}
