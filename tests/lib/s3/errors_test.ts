import assert from "node:assert/strict";
import { s3Failure } from "@/lib/s3/s3_errors.ts";

const answer = (status: number, code: string, message = "m") =>
  new Response(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`, { status });

Deno.test("s3 errors: the code decides, else the store's status, else 502", async () => {
  const table: [number, string, number][] = [
    [400, "NoSuchBucket", 404],
    [400, "NoSuchKey", 404],
    [400, "NoSuchUpload", 404],
    [400, "BucketNotEmpty", 409],
    [400, "BucketAlreadyExists", 409],
    [400, "BucketAlreadyOwnedByYou", 409],
    [401, "AccessDenied", 403],
    [403, "InvalidAccessKeyId", 401],
    [403, "SignatureDoesNotMatch", 401],
    [403, "RequestTimeTooSkewed", 403],
    [500, "InvalidBucketName", 400],
    [500, "InvalidArgument", 400],
    [500, "InvalidPart", 400],
    [500, "InvalidPartOrder", 400],
    [500, "EntityTooSmall", 400],
    [400, "RequestTimeout", 408],
    [500, "SlowDown", 503],
    [500, "ServiceUnavailable", 503],
    [413, "OutOfSpace", 413],
    [507, "OutOfSpace", 507],
    [200, "OutOfSpace", 507],
    [500, "XMinioStorageFull", 507],
    [500, "InsufficientStorage", 507],
    [418, "constructor", 418],
    [301, "PermanentRedirect", 502],
  ];
  for (const [status, code, expected] of table) {
    assert.equal((await s3Failure(answer(status, code), "bucket 'b'")).status, expected, code);
  }
  assert.equal((await s3Failure(new Response(null, { status: 403 }), "x")).status, 403);
});

Deno.test("s3 errors: the detail is the store's message, without signed URLs and however odd the body", async () => {
  const { detail } = await s3Failure(answer(404, "NoSuchBucket", "It &amp; does not exist"), "bucket 'b'");
  assert.equal(detail, "bucket 'b': It & does not exist");
  const leaky = await s3Failure(
    answer(403, "AccessDenied", "see https://s/b/k?X-Amz-Signature=abc&amp;x and X-Amz-Credential=AKIA123"),
    "object 'k'",
  );
  assert.ok(!/abc|AKIA/.test(String(leaky.detail)), String(leaky.detail));
  assert.equal(
    (await s3Failure(new Response("<html>no</html>", { status: 500 }), "x")).detail,
    "x: the store returned status 500",
  );
  assert.equal((await s3Failure(new Response(null, { status: 404 }), "x")).detail, "x: Not Found");
  const huge = new Response("<Error><Code>NoSuchKey</Code>" + " ".repeat(100_000), { status: 400 });
  assert.equal((await s3Failure(huge, "x")).status, 400);
});

Deno.test("s3 errors: refused keys read the same, whatever the store says of them", async () => {
  const refusals = [
    answer(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."),
    answer(403, "SignatureDoesNotMatch", "The request signature we calculated does not match"),
    answer(401, "SignatureDoesNotMatch", ""),
  ];
  for (const refusal of refusals) {
    const { status, detail, headers } = await s3Failure(refusal, "bucket 'b'");
    assert.deepEqual([status, detail, headers], [401, "bucket 'b': The store refused the credentials", {}]);
  }
});
