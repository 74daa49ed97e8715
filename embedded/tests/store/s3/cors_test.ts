import {
  type CORSRule,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketCorsCommand,
  GetBucketCorsCommand,
  GetObjectCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { anonymous } from "@/embedded/tests/store/acl_fixture.ts";
import { type GivenStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const ORIGIN = "https://viewer.example";
const KEY = "1794/Svar + bilaga.txt";

function corsOf({ store, client }: GivenStore) {
  const base = store.s3("archive");
  return {
    store,
    client,
    base,
    put: (rules: CORSRule[], Bucket = "letters") =>
      client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: rules } })),
    read: async (headers: Record<string, string>, Bucket = "letters", Key = KEY) => {
      const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key }));
      return await answer(fetch(url, { headers }));
    },
    ask: (path: string, headers: Record<string, string>) =>
      answer(fetch(`${base}${path}`, { method: "OPTIONS", headers })),
  };
}

/** An answer with what it says to browsers. */
async function answer(sent: Promise<Response>) {
  const response = await sent;
  const text = await response.text();
  const cors = Object.fromEntries(
    [...response.headers].filter(([name]) => name.startsWith("access-control-") || name === "vary")
      .map(([name, value]) => [name.replace("access-control-", ""), value]),
  );
  return { status: response.status, code: /<Code>(.*)<\/Code>/.exec(text)?.[1], text, cors };
}

const VARY = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method";

storeTest("embedded S3 CORS: rules are set, read and deleted by the owner", async (given) => {
  const { store, client, put } = corsOf(given);
  const get = (by = client) => by.send(new GetBucketCorsCommand({ Bucket: "campaigns" }));
  const refused = await get().catch((error) => error);
  assert.deepEqual([refused.name, refused.$metadata.httpStatusCode], ["NoSuchCORSConfiguration", 404]);
  const rules: CORSRule[] = [
    { ID: "<both> & all", AllowedOrigins: ["https://*.example", ORIGIN], AllowedMethods: ["GET", "PUT"] },
    {
      AllowedOrigins: ["*"],
      AllowedMethods: ["HEAD"],
      AllowedHeaders: ["x-amz-*"],
      ExposeHeaders: ["ETag", "x-amz-meta-a"],
      MaxAgeSeconds: 0,
    },
  ];
  await put(rules, "campaigns");
  assert.deepEqual((await get()).CORSRules, rules);
  const reader = store.client("archive", "reader");
  assert.deepEqual((await get(reader)).CORSRules, rules);
  await client.send(new PutBucketAclCommand({ Bucket: "campaigns", ACL: "public-read" }));
  assert.equal((await anonymous(store, "GET", "/campaigns?cors")).status, 403, "a list to read is not the rules");
  const refusedPut = new PutBucketCorsCommand({ Bucket: "campaigns", CORSConfiguration: { CORSRules: [rules[0]] } });
  assert.equal(await storeErrorCode(reader.send(refusedPut)), "AccessDenied");
  assert.equal(await storeErrorCode(reader.send(new DeleteBucketCorsCommand({ Bucket: "campaigns" }))), "AccessDenied");
  await put([rules[1]], "campaigns");
  assert.deepEqual((await get()).CORSRules, [rules[1]]);
  for (let time = 0; time < 2; time++) {
    const { $metadata } = await client.send(new DeleteBucketCorsCommand({ Bucket: "campaigns" }));
    assert.equal($metadata.httpStatusCode, 204);
  }
  assert.equal(await storeErrorCode(get()), "NoSuchCORSConfiguration");
});

storeTest("S3 CORS: rules that S3 refuses, wrong digests and bodies of 1 MiB change nothing", async (given) => {
  const { client, put } = corsOf(given);
  const rule = { AllowedOrigins: [ORIGIN], AllowedMethods: ["GET"] };
  await put([rule]);
  assert.equal(await storeErrorCode(put([])), "MalformedXML");
  assert.equal(await storeErrorCode(put([rule], "nowhere")), "NoSuchBucket");
  assert.equal(
    await storeErrorCode(put([{ ...rule, AllowedOrigins: [`https://${"x".repeat(1024 * 1024)}`] }])),
    "MalformedXML",
  );
  const other = { AllowedOrigins: ["*"], AllowedMethods: ["PUT"] };
  const md5 = (text: string) => createHash("md5").update(text).digest("base64");
  const putWith = (headers: Record<string, string>, body?: string) => {
    const command = new PutBucketCorsCommand({ Bucket: "letters", CORSConfiguration: { CORSRules: [other] } });
    command.middlewareStack.add((next) => (args) => {
      if (typeof args.request === "object" && args.request && "headers" in args.request) {
        Object.assign(args.request, body === undefined ? {} : { body });
        Object.assign(args.request.headers ?? {}, headers);
      }
      return next(args);
    }, { step: "build", priority: "low" });
    return storeErrorCode(client.send(command));
  };
  assert.equal(await putWith({ "content-md5": md5("other") }), "BadDigest");
  assert.equal(await putWith({ "content-md5": "x" }), "InvalidDigest");
  assert.equal(await putWith({ "x-amz-checksum-crc32": "AAAAAA==" }), "BadDigest");
  const padded = "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>" + " ".repeat(64 * 1024) +
    "<AllowedMethod>PUT</AllowedMethod></CORSRule></CORSConfiguration>";
  const stated = { "content-md5": md5(padded), "content-length": String(padded.length) };
  assert.equal(await putWith(stated, padded), "MalformedXML");
  const kept = async () => (await client.send(new GetBucketCorsCommand({ Bucket: "letters" }))).CORSRules;
  assert.deepEqual(await kept(), [rule]);
  await put([{ ...rule, AllowedOrigins: [`https://${"x".repeat(63 * 1024)}`] }]);
  assert.equal((await kept())?.[0].AllowedOrigins?.[0].length, 63 * 1024 + 8);
});

storeTest("embedded S3 CORS: the first rule for origin and method applies to responses and errors", async (given) => {
  const { put, read, base } = corsOf(given);
  assert.deepEqual((await read({ origin: ORIGIN })).cors, { vary: VARY });
  await put([
    { AllowedOrigins: [ORIGIN], AllowedMethods: ["PUT"], MaxAgeSeconds: 1 },
    {
      AllowedOrigins: ["https://*.example"],
      AllowedMethods: ["GET", "PUT"],
      ExposeHeaders: ["ETag", "x-amz-version-id"],
      MaxAgeSeconds: 60,
    },
    { AllowedOrigins: ["*"], AllowedMethods: ["GET"] },
  ]);
  const named = {
    vary: VARY,
    "allow-origin": ORIGIN,
    "allow-methods": "GET, PUT",
    "allow-credentials": "true",
    "expose-headers": "ETag, x-amz-version-id",
    "max-age": "60",
  };
  const found = await read({ origin: ORIGIN });
  assert.deepEqual([found.status, found.cors], [200, named]);
  const absent = await read({ origin: ORIGIN }, "letters", "absent");
  assert.deepEqual([absent.status, absent.code, absent.cors], [404, "NoSuchKey", named]);
  const unsigned = await answer(fetch(`${base}/LETTERS/${"k".repeat(1025)}`, { headers: { origin: ORIGIN } }));
  assert.deepEqual([unsigned.code, unsigned.cors], ["KeyTooLongError", named]);
  const asPreflight = await read({ origin: ORIGIN, "access-control-request-method": "PUT" });
  assert.deepEqual([asPreflight.status, asPreflight.cors["max-age"]], [200, "1"]);
  assert.deepEqual((await read({ origin: "null" })).cors, {
    vary: VARY,
    "allow-origin": "*",
    "allow-methods": "GET",
  });
  assert.deepEqual((await answer(fetch(`${base}/letters/x`, { method: "HEAD", headers: { origin: ORIGIN } }))).cors, {
    vary: VARY,
  });
  assert.deepEqual((await read({})).cors, {});
  assert.deepEqual((await read({ origin: ORIGIN }, "maps", "utkast.txt")).cors, { vary: VARY });
});

storeTest("S3 CORS: a preflight needs no signature, and a rule for everything that it requests", async (given) => {
  const { put, ask } = corsOf(given);
  const asking = { origin: ORIGIN, "access-control-request-method": "PUT" };
  await put([
    {
      AllowedOrigins: [ORIGIN],
      AllowedMethods: ["PUT"],
      AllowedHeaders: ["Content-*", "X-Amz-Date"],
      MaxAgeSeconds: 9,
    },
    { AllowedOrigins: ["*"], AllowedMethods: ["GET"], AllowedHeaders: ["*"] },
  ]);
  for (const path of ["/letters", "/letters/", "/Letters/new%20key", "/letters/a/../b"]) {
    const allowed = await ask(path, { ...asking, "access-control-request-headers": "content-TYPE, x-amz-date" });
    assert.deepEqual([allowed.status, allowed.text, allowed.cors], [200, "", {
      vary: VARY,
      "allow-origin": ORIGIN,
      "allow-methods": "PUT",
      "allow-headers": "content-type, x-amz-date",
      "allow-credentials": "true",
      "max-age": "9",
    }]);
  }
  assert.equal((await ask("/letters", asking)).cors["allow-headers"], undefined);
  const forAll = await ask("/letters/x", {
    origin: "https://other.example",
    "access-control-request-method": "GET",
    "access-control-request-headers": "x-anything",
  });
  assert.deepEqual(forAll.cors, {
    vary: VARY,
    "allow-origin": "*",
    "allow-methods": "GET",
    "allow-headers": "x-anything",
  });
  const refused = [
    ["/letters/x", { ...asking, "access-control-request-headers": "content-type, x-other" }],
    ["/letters/x", { ...asking, "access-control-request-method": "DELETE" }],
    ["/letters/x", { ...asking, origin: "https://other.example" }],
    ["/maps/x", asking],
    ["/nowhere/x", asking],
    ["/%ff/x", asking],
    ["/", asking],
  ] as const;
  for (const [path, headers] of refused) {
    const { status, code, cors, text } = await ask(path, headers);
    assert.deepEqual([status, code, cors], [403, "AccessForbidden", { vary: VARY }], path);
    // Whether there is such a bucket is not told.
    assert.match(text, /<Message>CORSResponse: no CORS rule allows this origin, method and headers here<\/Message>/);
  }
  assert.equal((await ask("/letters/x", { origin: ORIGIN })).status, 400);
  assert.equal((await ask("/letters/x", { "access-control-request-method": "GET" })).status, 400);
  assert.equal((await ask("/letters/x", { ...asking, "access-control-request-method": "PATCH" })).code, "BadRequest");
});

storeTest("embedded S3 CORS: our own pages read everything, independent of a bucket's rules", async (given) => {
  const { store, put, read, ask } = corsOf(given);
  const own = "http://127.0.0.1:8000";
  store.server.allowOrigins([own]);
  await put([{ AllowedOrigins: [own], AllowedMethods: ["HEAD"], ExposeHeaders: ["x-rule"] }]);
  const { cors } = await read({ origin: own });
  assert.deepEqual([cors["allow-origin"], cors.vary], [own, "Origin"]);
  assert.match(cors["expose-headers"], /ETag/);
  const preflight = await ask("/letters/x", {
    origin: own,
    "access-control-request-method": "DELETE",
    "access-control-request-headers": "x-any",
  });
  assert.deepEqual([preflight.status, preflight.cors["allow-headers"]], [204, "x-any"]);
});

storeTest("S3 CORS: a page may read the response to deleting its rules, a new bucket has none", async (given) => {
  const { client, put, read } = corsOf(given);
  const rules = [{ AllowedOrigins: [ORIGIN], AllowedMethods: ["DELETE", "GET"] }];
  const Bucket = "short-lived";
  await client.send(new CreateBucketCommand({ Bucket }));
  await put(rules, Bucket);
  const remove = await getSignedUrl(client, new DeleteBucketCommand({ Bucket }));
  const removed = await answer(fetch(remove, { method: "DELETE", headers: { origin: ORIGIN } }));
  assert.deepEqual([removed.status, removed.cors["allow-origin"]], [204, ORIGIN]);
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(new PutObjectCommand({ Bucket, Key: "k", Body: "x" }));
  assert.equal(await storeErrorCode(client.send(new GetBucketCorsCommand({ Bucket }))), "NoSuchCORSConfiguration");
  assert.deepEqual((await read({ origin: ORIGIN }, Bucket, "k")).cors, { vary: VARY });
});
