import assert from "node:assert/strict";
import fc from "fast-check";
import { redactPath, redactQuery, redactText } from "@/lib/http/request_context.ts";

Deno.test("query: names stay, secret values go, however they are written", () => {
  assert.equal(redactQuery("a=1&password=x&b"), "a=1&password=[redacted]&b");
  assert.equal(redactQuery("X-AMZ-Security-Token=x&TICKET=y"), "X-AMZ-Security-Token=[redacted]&TICKET=[redacted]");
  assert.equal(
    redactQuery("p%61ssword=x&newPassword=y&continuation_token=z"),
    "p%61ssword=[redacted]&newPassword=[redacted]&continuation_token=z",
  );
  assert.equal(redactQuery("q=HCP+dXNlcg==:abc&r=bearer%20abc"), "q=[redacted]&r=[redacted]");
  assert.equal(
    redactQuery("aws_secret_access_key=x&secretKey=y"),
    "aws_secret_access_key=[redacted]&secretKey=[redacted]",
  );
  assert.equal(redactQuery("prefix=https%3A%2F%2Fh%2Fk%3FX-Amz-Signature%3Dff&a"), "prefix=[redacted]&a");
  assert.equal(redactQuery("https%3A%2F%2Fh%2Fk%3FX-Amz-Signature%3Dff"), "[redacted]");
  assert.equal(redactQuery("%zz=1&%"), "%zz=1&%");
  fc.assert(
    fc.property(
      fc.webQueryParameters(),
      fc.mixedCase(fc.constantFrom("password", "ticket", "x-amz-signature")),
      (rest, name) => {
        assert.ok(!redactQuery(`${name}=h%75shh&${rest}`).includes("h%75shh"));
      },
    ),
  );
});

Deno.test("text: signed values, passwords and tokens go", () => {
  const text = redactText(
    "GET /b?X-Amz-Credential=A%2F1&X-Amz-Signature=ff password=p Authorization: Bearer abcdefghij eyJhbGciOi.eyJzdWIi.sig",
  );
  assert.equal(
    text,
    "GET /b?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted] password=[redacted] Authorization: [redacted]",
  );
});

Deno.test("text: user and password of an address go", () => {
  assert.equal(
    redactText("connect to redis://default:p%40ss@host:6379/1 and https://u@h/a@b failed"),
    "connect to redis://[redacted]@host:6379/1 and https://[redacted]@h/a@b failed",
  );
  assert.equal(redactText("https://host/a:b@c"), "https://host/a:b@c");
});

Deno.test("text: the parts of a signature are no text to show", () => {
  const text = "Credential=AKIA/2026/s3/aws4_request, SignedHeaders=host, Signature=0123456789abcdef";
  assert.equal(redactText(text), "Credential=[redacted], SignedHeaders=host, Signature=[redacted]");
});

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const secrets = fc.string({ unit: fc.constantFrom(...BASE64), minLength: 12, maxLength: 40 });
/** Spellings of one text that still mean it in a URL. */
const spellings = (text: string) => [text, encodeURIComponent(text), encodeURIComponent(encodeURIComponent(text))];

Deno.test("query: keys and signatures of either version of S3's signatures go, tickets and session tokens too", () => {
  const names = [
    ...["Signature", "AWSAccessKeyId", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "ticket"],
  ];
  fc.assert(
    fc.property(fc.mixedCase(fc.constantFrom(...names)), secrets, fc.webQueryParameters(), (name, secret, rest) => {
      for (const value of spellings(secret)) {
        const shown = redactQuery(`Expires=9&${name}=${value}&${rest}`);
        assert.ok(shown.startsWith(`Expires=9&${name}=[redacted]`), shown);
      }
      // A signed URL as the value of another parameter.
      for (const url of spellings(`https://h/b/k?Expires=9&${name}=${secret}`).slice(1)) {
        assert.equal(redactQuery(`prefix=${url}`), "prefix=[redacted]");
      }
    }),
  );
  assert.equal(redactQuery("q=AWS+QUtJRA==:c2lnbmF0dXJl&n=1"), "q=[redacted]&n=1");
});

Deno.test("text: the header of Signature Version 2 goes with key and signature, however it is quoted", () => {
  fc.assert(
    fc.property(secrets, secrets, fc.mixedCase(fc.constant("authorization")), (key, signature, name) => {
      const header = `AWS ${key}:${signature}`;
      for (
        const text of [
          `${name}: ${header}`,
          `${name}=${header}`,
          `sent "${name}":"${header}" to the store`,
          `sent {\\"${name}\\":\\"${header}\\"}`,
          `${name}: ["${header}"]`,
          `GET /b/k ${header}`,
          `GET /b/k?AWSAccessKeyId=${key}&Expires=9&Signature=${signature}`,
          `GET /b/k%3FAWSAccessKeyId%3D${key}%26Expires%3D9%26Signature%3D${signature}`,
          `<AWSAccessKeyId>${key}</AWSAccessKeyId><SignatureProvided>${signature}</SignatureProvided>`,
          `{"AWSAccessKeyId": "${key}", "Signature": "${signature}"}`,
          `x-amz-security-token: ${key} X-Amz-Security-Token=${signature}`,
          `{"x-amz-security-token":"${key}","password":"${signature}"}`,
          `/objects/download/1/file?ticket=${key}&access_token=${signature}`,
          `Cookie: results_session=${key}; __Host-results_session=${signature}`,
        ]
      ) {
        const shown = redactText(text);
        assert.ok(!shown.includes(key) && !shown.includes(signature), shown);
      }
    }),
  );
  assert.equal(redactText("GET /b/k AWS AKIA/key/pwd:c2lnbmF0dXJl"), "GET /b/k AWS [redacted]");
});

Deno.test("text: the rest of a line keeps its meaning", () => {
  for (
    const text of [
      "The request signature we calculated does not match the signature you provided",
      "maps: Access Denied",
      "TypeError: tickets.map is not a function",
      "Authorization header is malformed",
      "GET /b?continuation_token=abc&prefix=a",
      "an AWS region: eu-north-1",
    ]
  ) assert.equal(redactText(text), text);
  assert.equal(
    redactText("Authorization: AWS a2V5:c2lnbmF0dXJl\n    at fetch (client.ts:1:2)"),
    "Authorization: [redacted]\n    at fetch (client.ts:1:2)",
  );
});

Deno.test("path: a signed URL pasted as a key is not shown, also when letters of its parameters are encoded", () => {
  assert.equal(redactPath("/api/v1/buckets/b/objects/a%20b"), "/api/v1/buckets/b/objects/a%20b");
  assert.equal(redactPath("/b/k%3FSignature=c2ln"), "/b/k%3FSignature=[redacted]");
  assert.equal(redactPath("/b/k%3F%53ignature%3Dc2ln"), "[redacted]");
});
