import assert from "node:assert/strict";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";

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
  return parseS3Request(new Request(`http://h${path}`));
}
