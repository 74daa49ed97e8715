import assert from "node:assert/strict";
import fc from "fast-check";
import { SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { readObjectFacts } from "@/lib/pages/storage/object_facts.ts";
import { utf8Value } from "@/lib/std/header_encoding.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { formUploadHeaders, objectHeaders, readHeaders, uploadHeaders, writeHeaders } from "@/lib/s3/objects.ts";

const printable = fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/);
const UPLOAD = [
  ...["content-type", "content-md5", "content-encoding", "content-disposition", "content-language", "cache-control"],
  ...["expires", "x-amz-checksum-crc32", "x-amz-checksum-crc32c", "x-amz-checksum-crc64nvme", "x-amz-checksum-sha1"],
  ...["x-amz-checksum-sha256", "x-amz-meta-any", "x-amz-tagging"],
];
const OTHERS = [
  ...["authorization", "cookie", "host", "x-amz-acl", "x-amz-copy-source", "x-api-key", "content-range"],
  ...["set-cookie"],
];
const headersOf = (names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), printable, { noNullPrototype: true });

Deno.test("upload headers: those of an object go to the store, no others", () => {
  fc.assert(fc.property(headersOf(UPLOAD), headersOf(OTHERS), (own, others) => {
    assert.deepEqual(uploadHeaders(new Headers({ ...own, ...others })), own);
  }));
});

Deno.test("upload headers: of a form, the content headers and digests are not the file's", () => {
  const OF_THE_FORM = /^content-(type|md5|encoding)$|^x-amz-checksum-/;
  fc.assert(fc.property(headersOf(UPLOAD), fc.option(printable), (own, type) => {
    const expected = Object.fromEntries(Object.entries(own).filter(([name]) => !OF_THE_FORM.test(name)));
    if (type !== null) expected["content-type"] = type;
    assert.deepEqual(formUploadHeaders(new Headers(own), type), expected);
  }));
});

Deno.test("upload headers: what is not printable ASCII is refused by name", () => {
  const refused = (make: () => unknown, name: string, allowed = "printable ASCII") =>
    assert.throws(make, (error) => {
      assert.ok(error instanceof HttpError);
      assert.deepEqual([error.status, error.message], [400, `${name}: only ${allowed} is allowed`]);
      return true;
    });
  refused(() => uploadHeaders(new Headers({ "x-amz-meta-name": "\xe5" })), "x-amz-meta-name", "UTF-8");
  refused(() => uploadHeaders(new Headers({ "content-type": "\x7f" })), "content-type");
  refused(() => formUploadHeaders(new Headers(), "å/b"), "file: content-type");
});

Deno.test("metadata and file names in UTF-8 go to the store in ASCII, and come back from any encoding", () => {
  const bytes = utf8Value("Åbo 日本");
  const sent = uploadHeaders(
    new Headers({ "x-amz-meta-a": bytes, "content-disposition": utf8Value('inline; filename="å"') }),
  );
  const encoded = "=?UTF-8?B?w4VibyDml6XmnKw=?=";
  assert.equal(sent["x-amz-meta-a"], encoded);
  assert.equal(sent["content-disposition"], "inline; filename=\"_\"; filename*=UTF-8''%C3%A5");
  for (const stored of [encoded, bytes]) {
    assert.equal(objectHeaders(new Headers({ "x-amz-meta-a": stored }))["x-amz-meta-a"], bytes);
  }
  assert.equal(
    objectHeaders(new Headers({ "content-disposition": utf8Value('inline; filename="å"') }))["content-disposition"],
    "inline; filename=\"_\"; filename*=UTF-8''%C3%A5",
  );
  // Decoded, these would be control characters in a header.
  for (const stored of ["=?UTF-8?B?YQ0KYg==?=", "=?UTF-8?Q?a=00?="]) {
    assert.equal(objectHeaders(new Headers({ "x-amz-meta-a": stored }))["x-amz-meta-a"], stored);
  }
  assert.deepEqual(readObjectFacts(new Headers({ "x-amz-meta-a": bytes })).metadata, [["a", "Åbo 日本"]]);
});

Deno.test("read headers: range, conditions and the wish for checksums, no others", () => {
  const READ = [
    ...["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"],
    ...["x-amz-checksum-mode"],
  ];
  fc.assert(fc.property(headersOf(READ), headersOf(OTHERS), (own, others) => {
    assert.deepEqual(readHeaders(new Headers({ ...own, ...others, "x-amz-meta-a": "b" })), own);
  }));
});

Deno.test("object headers: the object's own, private unless the store says otherwise, never run by a browser", () => {
  const OBJECT = [
    ...["etag", "content-type", "content-range", "x-amz-version-id", "x-amz-checksum-type", "x-amz-meta-a"],
    ...["cache-control"],
  ];
  const STORE = [
    ...["server", "x-amz-request-id", "x-amz-id-2", "set-cookie", "content-security-policy", "x-amz-expiration"],
  ];
  fc.assert(fc.property(headersOf(OBJECT), headersOf(STORE), (own, others) => {
    assert.deepEqual(objectHeaders(new Headers({ ...own, ...others })), {
      "cache-control": "private, no-cache",
      ...own,
      "content-security-policy": SANDBOX_POLICY,
      "x-content-type-options": "nosniff",
    });
  }));
});

Deno.test("object headers: any value of a store can be sent", () => {
  const value = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) });
  fc.assert(fc.property(value, (text) => {
    const sent = objectHeaders(new Headers({ "x-amz-meta-a": `a\t${text}b` }))["x-amz-meta-a"];
    assert.match(sent, /^a%09/);
    new Headers({ "x-amz-meta-a": sent });
  }));
});

Deno.test("write headers: entity tag, version and digests alone", () => {
  const WRITE = ["etag", "x-amz-version-id", "x-amz-delete-marker", "x-amz-checksum-crc32", "x-amz-checksum-type"];
  fc.assert(fc.property(headersOf(WRITE), headersOf(OTHERS), (own, others) => {
    assert.deepEqual(writeHeaders(new Headers({ ...own, ...others, "x-amz-meta-a": "b", "content-type": "c" })), own);
  }));
});
