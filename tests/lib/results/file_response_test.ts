import assert from "node:assert/strict";
import { fileConditions, fileResponse } from "@/lib/results/file_response.ts";

const DATE = "Sun, 06 Nov 1994 08:49:37 GMT";

function asked(headers: Record<string, string>, method: "GET" | "HEAD" = "GET"): Record<string, string> {
  return fileConditions(method, new Headers(headers));
}

Deno.test("file conditions: what the store sees of a reader's headers", () => {
  const cases: [Record<string, string>, Record<string, string>][] = [
    [{ "If-None-Match": '"a", W/"b"' }, { "if-none-match": '"a", W/"b"' }],
    [{ "If-None-Match": '"caf\xe9"' }, {}],
    [{ "If-Modified-Since": DATE }, { "if-modified-since": DATE }],
    [{ "If-Modified-Since": "Sunday, 06-Nov-94 08:49:37 GMT" }, { "if-modified-since": DATE }],
    [{ "If-Modified-Since": "Sun Nov  6 08:49:37 1994" }, { "if-modified-since": DATE }],
    [{ "If-Modified-Since": DATE, "If-None-Match": "*" }, { "if-none-match": "*" }],
    [{ "If-Modified-Since": "1" }, {}],
    [{ "If-Modified-Since": "yesterday" }, {}],
    [{ "If-Modified-Since": "2026-11-20T00:00:00Z" }, {}],
    [{ "If-Modified-Since": "Sun, 66 Nov 1994 08:49:37 GMT" }, {}],
    [{ Range: "bytes=0-1" }, { range: "bytes=0-1" }],
    [{ Range: "bytes=5-" }, { range: "bytes=5-" }],
    [{ Range: "bytes=-5" }, { range: "bytes=-5" }],
    [{ Range: "bytes=0-1,3-4" }, {}],
    [{ Range: "bytes=-" }, {}],
    [{ Range: "bytes=a-b" }, {}],
    [{ Range: `bytes=0-${"9".repeat(40)}` }, {}],
    [{ Range: "pages=1-2" }, {}],
    [{ Range: "bytes=0-1", "If-Range": '"a"' }, { range: "bytes=0-1", "if-range": '"a"' }],
    [{ Range: "bytes=0-1", "If-Range": DATE }, { range: "bytes=0-1", "if-range": DATE }],
    [{ Range: "bytes=0-1", "If-Range": 'W/"a"' }, {}],
    [{ Range: "bytes=0-1", "If-Range": "nonsense" }, {}],
    [{ "If-Range": '"a"' }, {}],
    [{ "If-Match": '"a"', Authorization: "x", Cookie: "y", "X-Amz-Acl": "public" }, {}],
  ];
  for (const [headers, expected] of cases) assert.deepEqual(asked(headers), expected, JSON.stringify(headers));
});

Deno.test("file conditions: a HEAD has no range", () => {
  assert.deepEqual(asked({ Range: "bytes=0-1", "If-Range": '"a"', "If-None-Match": "*" }, "HEAD"), {
    "if-none-match": "*",
  });
});

Deno.test("file response: only types that cannot run are displayed, verbatim; others are downloads", () => {
  const typeOf = (type: string | null) => {
    const { headers } = fileResponse(new Response("x", { headers: type === null ? {} : { "Content-Type": type } }));
    return [headers.get("content-type"), headers.get("content-disposition")];
  };
  for (
    const type of [
      "application/json",
      "application/xml",
      "text/xml; charset=ISO-8859-1",
      "text/plain;charset=utf-8",
      "Text/PLAIN",
    ]
  ) {
    assert.deepEqual(typeOf(type), [type, null]);
  }
  for (
    const type of [
      "text/html",
      "image/svg+xml",
      "application/xhtml+xml",
      "application/yaml",
      "text/css",
      "image/png",
      "text/plain, text/html",
      "text/plainx",
      "text/plain;\xe5",
      "",
    ]
  ) {
    assert.deepEqual(typeOf(type), ["application/octet-stream", "attachment"], type);
  }
  const untyped = new Response(new Uint8Array([1]));
  assert.equal(fileResponse(untyped).headers.get("content-type"), "application/octet-stream");
});

Deno.test("file response: of the store's headers it has only those that describe the file", () => {
  const store = new Response("x", {
    status: 206,
    headers: {
      "Content-Type": "text/plain",
      "Content-Length": "1",
      "Content-Range": "bytes 0-0/9",
      "Content-Encoding": "gzip",
      "ETag": '"caf\xe9"',
      "Last-Modified": DATE,
      "Cache-Control": "public, max-age=9999",
      "Content-Security-Policy": "default-src *",
      "Content-Disposition": "inline",
      "Set-Cookie": "results_session=x",
      "Access-Control-Allow-Origin": "*",
      "x-amz-meta-a": "b",
      "Server": "s",
    },
  });
  const answer = fileResponse(store);
  assert.equal(answer.status, 206);
  assert.deepEqual(Object.fromEntries(answer.headers), {
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-encoding": "gzip",
    "content-length": "1",
    "content-range": "bytes 0-0/9",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "content-type": "text/plain",
    "etag": '"caf%C3%A9"',
    "last-modified": DATE,
    "x-content-type-options": "nosniff",
  });
});

Deno.test("file response: a 304 has the validators and the fixed headers", () => {
  const store = new Response(null, { status: 304, headers: { ETag: '"a"', "Content-Type": "text/html" } });
  assert.deepEqual(Object.fromEntries(fileResponse(store).headers), {
    "cache-control": "private, no-cache",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "etag": '"a"',
    "x-content-type-options": "nosniff",
  });
});
