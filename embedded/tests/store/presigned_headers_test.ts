import assert from "node:assert/strict";
import { isHeaderInQuery, withHeadersOfQuery } from "@/embedded/store/s3/request_headers.ts";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { bodyReader } from "@/lib/runtime/http.ts";
import { utf8Value } from "@/lib/std/header_encoding.ts";

const SIGNED = "X-Amz-Algorithm=AWS4-HMAC-SHA256";

function request(query: string, headers: Record<string, string> = {}) {
  return parseS3Request(new Request(`http://h/b/k?${query}`, { headers }), bodyReader);
}

Deno.test("presigned headers: S3's headers in the query apply, the signature's do not", () => {
  const { headers } = withHeadersOfQuery(request(`${SIGNED}&X-Amz-Date=x&X-Amz-Meta-Volume=A1&x-amz-acl=private`));
  assert.deepEqual(Object.fromEntries(headers), { "x-amz-acl": "private", "x-amz-meta-volume": "A1" });
  const odd = withHeadersOfQuery(
    request(`${SIGNED}&x-amz-meta-a=%E6%97%A5&x-amz-meta-b=%C3%A5`, { "x-amz-meta-b": utf8Value("å") }),
  );
  assert.deepEqual(
    ["a", "b"].map((name) => odd.headers.get(`x-amz-meta-${name}`)),
    [utf8Value("日"), utf8Value("å")],
  );
});

Deno.test("presigned headers: without a signature in the query there are none", () => {
  const plain = request("x-amz-acl=private");
  assert.equal(withHeadersOfQuery(plain).headers.get("x-amz-acl"), null);
  assert.equal(isHeaderInQuery(plain, "x-amz-acl"), false);
});

Deno.test("presigned headers: a header may repeat its parameter only once and with the same value", () => {
  const query = `${SIGNED}&x-amz-acl=private`;
  assert.equal(withHeadersOfQuery(request(query, { "x-amz-acl": "private" })).headers.get("x-amz-acl"), "private");
  const refused = { code: "InvalidArgument" };
  assert.throws(() => withHeadersOfQuery(request(query, { "x-amz-acl": "public-read" })), refused);
  assert.throws(() => withHeadersOfQuery(request(`${query}&X-Amz-Acl=private`)), refused);
  assert.throws(() => withHeadersOfQuery(request(`${SIGNED}&x-amz-meta-a=%0d%0ax`)), refused);
  assert.throws(() => withHeadersOfQuery(request(`${SIGNED}&x-amz-meta-%C3%A5=1`)), refused);
  const many = Array.from({ length: 201 }, (_, n) => `&x-amz-meta-${n}=1`).join("");
  assert.throws(() => withHeadersOfQuery(request(SIGNED + many)), refused);
});

Deno.test("presigned headers: the checksum of an empty body is ignored, any other one is enforced", () => {
  const header = (query: string) => Object.fromEntries(withHeadersOfQuery(request(`${SIGNED}&${query}`)).headers);
  assert.deepEqual(header("x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32"), {});
  assert.deepEqual(header("x-amz-checksum-sha1=2jmj7l5rSw0yVb%2FvlWAYkK%2FYBwk%3D"), {});
  assert.deepEqual(header("x-amz-checksum-crc32=AAAAAQ%3D%3D"), { "x-amz-checksum-crc32": "AAAAAQ==" });
  assert.deepEqual(header("x-amz-checksum-crc32=A"), { "x-amz-checksum-crc32": "A" });
});
