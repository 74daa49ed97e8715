import fc from "fast-check";
import assert from "node:assert/strict";
import { statedAcl } from "@/embedded/store/s3/access_lists.ts";
import { parseCopySource } from "@/embedded/store/s3/copy_object.ts";
import { matchingCorsRule, requestedHeaders } from "@/embedded/store/s3/cors.ts";
import { checkReadConditions, rangeHolds, storedHeaders, writeCondition } from "@/embedded/store/s3/request_headers.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { requireSameOrigin } from "@/lib/auth/session_token.ts";
import { mediaTypeOf, sandboxObject } from "@/lib/auth/storage_api_path.ts";
import { bearerToken } from "@/lib/auth/admission.ts";
import {
  addressKey,
  clientAddress,
  redactPath,
  redactQuery,
  redactText,
  trustProxies,
} from "@/lib/http/request_context.ts";
import { contentDisposition, fileNameOf, headerText } from "@/lib/http/header_values.ts";
import { readTraceParent, traceParentOf } from "@/lib/operations/tracing.ts";
import { asciiDisposition, decodeWords } from "@/lib/std/header_encoding.ts";
import { storedDigests } from "@/lib/tasks/fixity/expected.ts";
import { fuzz, isRefused, isStoreError, near, nearHeader, resultOr } from "./hostile.ts";

const FORWARDED = ["192.0.2.1, 198.51.100.7", "[2001:db8::1]:8080", "::ffff:192.0.2.1", "192.0.2.1:80", "fe80::1%eth0"];

fuzz("addresses of clients", {
  inputs: fc.tuple(nearHeader(FORWARDED, ["::", "[", "]", "ffff"]), fc.integer({ min: 0, max: 3 })),
  check([header, hops]) {
    const address = clientAddress(header, "192.0.2.9", hops);
    assert.ok(address !== null, "the peer counts where the header does not");
    if (hops === 0) assert.equal(address, "192.0.2.9");
    assert.match(address, /^[0-9a-f.:]+$/, "an address and nothing else reaches the log");
    assert.match(addressKey(address), /^(?:[0-9.]+|[0-9a-f:]+\/64)$/, addressKey(address));
  },
  growth: { seeds: FORWARDED, read: (text) => clientAddress(text, null, 1) },
});

const TRACE_PARENTS = [
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "cc-" + "1".repeat(32) + "-" +
  "2".repeat(16) + "-01-what",
  "00-" + "0".repeat(32) + "-b7ad6b7169203331-00",
];

fuzz("traceparent", {
  inputs: nearHeader(TRACE_PARENTS),
  check(header) {
    const parent = readTraceParent(header);
    if (parent) assert.deepEqual(readTraceParent(traceParentOf(parent)), parent);
  },
  growth: { seeds: TRACE_PARENTS, read: readTraceParent },
});

const AUTHORIZATIONS = [
  "Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
  "bearer  abc",
  "Basic dTpw",
  "AWS4-HMAC-SHA256 Credential=a",
];

fuzz("Authorization", {
  inputs: nearHeader(AUTHORIZATIONS),
  check(header) {
    const token = resultOr(() => bearerToken(header), isRefused);
    if (token !== null) assert.ok(!/\s/.test(token) && token !== "" && header.includes(token));
  },
  growth: { seeds: AUTHORIZATIONS, read: (text) => resultOr(() => bearerToken(text), isRefused) },
});

const ORIGINS = ["https://a.example", "http://a.example:8080", "null", "https://[::1]:443", "HTTPS://A.EXAMPLE"];
const HOSTS = ["a.example", "a.example:443", "[::1]", "a.example, b.example"];

fuzz("Origin and Host", {
  inputs: fc.record({
    origin: nearHeader(ORIGINS),
    host: nearHeader(HOSTS),
    forwarded: fc.option(nearHeader(HOSTS)),
    scheme: fc.option(nearHeader(["https", "http", "https, http"])),
    proxies: fc.constantFrom(0, 1),
  }),
  check({ origin, host, forwarded, scheme, proxies }) {
    const headers = new Headers({ Origin: origin, Host: host });
    if (forwarded !== null) headers.set("X-Forwarded-Host", forwarded);
    if (scheme !== null) headers.set("X-Forwarded-Proto", scheme);
    const request = { url: "http://server.example/", headers };
    trustProxies(request, proxies);
    if (resultOr(() => (requireSameOrigin(request), true), isRefused) === null) return;
    const own = (proxies === 1 && forwarded?.split(",").at(-1)?.trim() || host).toLowerCase();
    assert.equal(URL.parse(origin)?.host, URL.parse(`${URL.parse(origin)?.protocol}//${own}`)?.host, own);
  },
});

const NAMES = ["report.pdf", 'å"b%2F/..\\c', "a\r\nSet-Cookie: x=y", "\ud800", "😀.txt", "", "a;filename=b", "''"];

fuzz("file names in headers", {
  inputs: near(NAMES, ["\r\n", '"', "filename*=UTF-8''"]),
  check(name) {
    const file = fileNameOf(name);
    const header = contentDisposition("attachment", file);
    assert.match(
      header,
      // deno-lint-ignore no-control-regex
      /^attachment; filename="[^"\\\x00-\x1f\x7f-\uffff]*"(?:; filename\*=UTF-8''[\w.!#$&+^`|~%-]*)?$/,
    );
    const [, plain, extended] = /^attachment; filename="([^"]*)"(?:; filename\*=UTF-8''(.*))?$/.exec(header) ?? [];
    const read = extended === undefined ? plain : decodeURIComponent(extended);
    assert.equal(read, file.toWellFormed().replace(/[/\\\p{Cc}]/gu, "_"));
    new Headers({ x: header, y: headerText(name) });
  },
  growth: { seeds: NAMES, read: (text) => contentDisposition("inline", fileNameOf(text)) },
});

const SHOWN = ["image/png", "text/html; charset=utf-8", "image/png, text/html", "application/pdf;a=b", "TEXT/PLAIN"];
const DISPOSITIONS = ["inline", "attachment", 'inline; filename="a.png"', "ATTACHMENT;", "inline attachment"];

fuzz("headers of objects that are shown", {
  inputs: fc.tuple(nearHeader(SHOWN), nearHeader(DISPOSITIONS), near(NAMES)),
  check([type, disposition, key]) {
    const headers = new Headers({ "Content-Type": type, "Content-Disposition": disposition });
    sandboxObject(headers, key);
    const isSaved = /^attachment[ \t]*(?:;|$)/i.test(headers.get("Content-Disposition") ?? "");
    if (isSaved) return;
    assert.match(
      headers.get("Content-Type") ?? "",
      /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|(?:audio|video)\/[\w.+-]+|text\/plain; charset=utf-8|application\/pdf)$/,
    );
  },
  growth: { seeds: SHOWN, read: mediaTypeOf },
});

const OBJECT = { etag: "9b2cf535f27731c974343645a3985328", modifiedMs: Date.UTC(2026, 0, 1) };
const CONDITIONS = [`"${OBJECT.etag}"`, "*", `W/"${OBJECT.etag}", "b"`, "Thu, 01 Jan 2026 00:00:00 GMT", OBJECT.etag];
const CONDITION_NAMES = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] as const;

fuzz("conditions", {
  inputs: fc.array(fc.tuple(fc.constantFrom(...CONDITION_NAMES), nearHeader(CONDITIONS)), { maxLength: 4 }),
  check(pairs) {
    const headers = new Headers(pairs);
    resultOr(() => checkReadConditions(headers, OBJECT, {}), (error) => error instanceof StoreError);
    resultOr(() => writeCondition(headers), isStoreError);
    rangeHolds(headers.get("if-match"), OBJECT);
  },
  growth: {
    seeds: CONDITIONS,
    read: (text) =>
      resultOr(
        () => checkReadConditions(new Headers({ "if-match": text.trim().replace(/[^\x20-\x7e]/g, "") }), OBJECT, {}),
        isStoreError,
      ),
  },
});

const GRANTS = ['id="a", uri="http://acs.amazonaws.com/groups/global/AllUsers"', "id=a,id=b", 'emailAddress="x@y"'];

const ENCODED = ["=?UTF-8?B?w6U=?= =?utf-8*sv?Q?=C3=A5_?=", 'attachment; filename="\\"å"; filename*=UTF-8\'\'a'];

fuzz("headers of the embedded store", {
  inputs: fc.record({
    grant: nearHeader(GRANTS, ['id="', '",']),
    canned: nearHeader(["public-read", "private"]),
    source: near(["/bucket/a/b%20c?versionId=123", "bucket/key", "b/k?versionId=null"], ["?versionId=", "%2F"]),
    meta: nearHeader(["value", "aws-chunked,gzip", "x".repeat(3000), ...ENCODED]),
    names: nearHeader(["content-type, x-amz-date", "*"]),
  }),
  check({ grant, canned, source, meta, names }) {
    resultOr(() => statedAcl(new Headers({ "x-amz-grant-read": grant })), isStoreError);
    resultOr(() => statedAcl(new Headers({ "x-amz-acl": canned })), isStoreError);
    const copied = resultOr(() => parseCopySource(source), isStoreError);
    if (copied) assert.ok(copied.bucket !== "" && copied.key !== "" && !copied.bucket.includes("?"));
    const stored = resultOr(
      () =>
        storedHeaders(
          new Headers({ "x-amz-meta-a": meta, "content-encoding": meta, "content-disposition": meta }),
          ["x-amz-meta-a"],
        ),
      isStoreError,
    );
    if (stored !== null) JSON.parse(stored);
    matchingCorsRule([{ origins: ["http://*.a"], methods: ["GET"], allowedHeaders: ["x-*"] } as never], {
      origin: names,
      method: "GET",
      headers: requestedHeaders(names),
    });
  },
  growth: {
    seeds: [...GRANTS, ...ENCODED, "/bucket/a?versionId=1"],
    read: (text) => [
      resultOr(() => parseCopySource(text), isStoreError),
      resultOr(() => statedAcl(new Headers({ "x-amz-grant-read": text.replace(/[^\x20-\x7e]/g, "") })), isStoreError),
      requestedHeaders(text),
      decodeWords(text),
      asciiDisposition(text),
    ],
  },
});

const CLAIMS = [
  '"9b2cf535f27731c974343645a3985328"',
  '"9b2cf535f27731c974343645a3985328-12"',
  "sOO8/Q==",
  "sOO8/Q==-3",
];

fuzz("stored checksums and ETags", {
  inputs: fc.tuple(nearHeader(CLAIMS), nearHeader(CLAIMS)),
  check([etag, checksum]) {
    const claims = storedDigests(
      new Headers({ etag, "x-amz-checksum-crc32c": checksum, "x-amz-checksum-sha256": checksum }),
    );
    for (const { expected, parts } of claims) {
      assert.match(expected, /^(?:[0-9a-f]{2})+$/);
      assert.ok(parts === null || (parts >= 1 && parts <= 10_000));
    }
  },
});

const LOGGED = [
  "GET /a?X-Amz-Signature=0123456789abcdef&token=eyJhbGciOi.eyJzdWIi.c2lnbg failed",
  '{"password":"secret-1","user":"u"} Authorization: Bearer abcdefghijklmnop',
  "redis://user:pass@host/ http://a/?url=http%3A%2F%2Fb%2F%3Fticket%3Dabc",
  "<StringToSign>AWS4 x</StringToSign> AWS key:abcdefgh signature=abc",
];

fuzz("redaction", {
  inputs: near(LOGGED, ["password=", "authorization:", "%253D", "eyJ", "x-amz-", "aws ", '\\\\\\"']),
  check(text) {
    assert.ok(redactQuery(text).length <= 2048);
    const secret = "s3cretValue0123456789";
    assert.ok(!redactText(`${text} password=${secret}`).includes(secret));
    assert.ok(!redactQuery(`${text.replaceAll("&", "")}&X-Amz-Signature=${secret}`).includes(secret));
  },
  growth: {
    seeds: LOGGED,
    words: ["password", "authorization", "token", "://", "eyJ-", "x-amz-", "aws ", "\\", "%25"],
    read: (text) => [redactText(text), redactQuery(text), redactPath(text)],
  },
});
