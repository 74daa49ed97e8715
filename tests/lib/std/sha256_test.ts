import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { hashPrefix, Hmac } from "@/lib/std/sha256.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const text = (value: Uint8Array) => Buffer.from(value).toString("latin1");

const hmacOf = (key: Uint8Array, ...messages: readonly (Uint8Array | string)[]) => {
  const hmac = createHmac("sha256", key);
  for (const message of messages) hmac.update(message);
  return hmac.digest("hex");
};

Deno.test("SHA-256: agrees with node:crypto, however the message is split", () => {
  const key = new Uint8Array([1, 2, 3]);
  const hmac = new Hmac(key, "");
  for (let length = 0; length < 200; length++) {
    const message = "b".repeat(length);
    const wanted = hmacOf(key, createHash("sha256").update(message).digest("hex"));
    assert.equal(hmac.hexOfDigest(hashPrefix(""), message, ""), wanted, `${length} bytes`);
  }
  fc.assert(fc.property(bytes, bytes, bytes, bytes, (a, b, c, d) => {
    const prefix = hashPrefix(text(b), hashPrefix(text(a)));
    const digest = createHash("sha256").update(a).update(b).update(c).update(d).digest("hex");
    const wanted = hmacOf(key, digest);
    assert.equal(hmac.hexOfDigest(prefix, text(c), text(d)), wanted);
    assert.equal(hmac.hexOfDigest(prefix, text(c), text(d)), wanted, "a prefix can be continued twice");
  }));
});

Deno.test("HMAC: agrees with node:crypto for keys up to a block, and nothing is left of a message", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), bytes, bytes, (key, beginning, rest) => {
    const hmac = new Hmac(key, text(beginning));
    assert.equal(hmac.hex(text(rest)), hmacOf(key, beginning, rest));
    const digest = createHash("sha256").update(rest).digest("hex");
    assert.equal(hmac.hexOfDigest(hashPrefix(""), text(rest), ""), hmacOf(key, beginning, digest));
    assert.equal(hmac.hex(text(rest)), hmacOf(key, beginning, rest));
  }));
});

Deno.test("HMAC: a long message is taken whole", () => {
  const key = new Uint8Array(32);
  assert.equal(new Hmac(key, "").hex("m".repeat(100_000)), hmacOf(key, "m".repeat(100_000)));
});
