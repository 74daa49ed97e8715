import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { digestHex, hashPrefix, HEX_BYTES, Hmac, MAX_BATCH, type Message } from "@/lib/std/sha256.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const text = (value: Uint8Array) => Buffer.from(value).toString("latin1");
const NO_BYTES = new Uint8Array(0);

const hmacOf = (key: Uint8Array, ...messages: readonly (Uint8Array | string)[]) => {
  const hmac = createHmac("sha256", key);
  for (const message of messages) hmac.update(message);
  return hmac.digest("hex");
};
const hashOf = (...messages: readonly Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const message of messages) hash.update(message);
  return hash.digest("hex");
};
const hexOfDigests = (hmac: Hmac, messages: readonly Message[]) => {
  const hex = new TextDecoder().decode(hmac.hexOfDigests(messages));
  return messages.map((_, index) => hex.slice(index * HEX_BYTES, (index + 1) * HEX_BYTES));
};

Deno.test("SHA-256: agrees with node:crypto for a message of any length", () => {
  const key = new Uint8Array([1, 2, 3]);
  const hmac = new Hmac(key, "");
  for (let length = 0; length < 200; length++) {
    const message = Buffer.alloc(length, "b");
    const wanted = hmacOf(key, hashOf(message));
    assert.deepEqual(hexOfDigests(hmac, [{ prefix: hashPrefix(""), text: text(message), end: NO_BYTES }]), [wanted]);
  }
});

Deno.test("SHA-256: agrees with node:crypto for each message of a batch, however they are split and however long they are", () => {
  const key = new Uint8Array([1, 2, 3]);
  // Of a batch, some fit the memory of a lane and some do not.
  const long = fc.integer({ min: 7900, max: 30_000 }).map((length) => Buffer.alloc(length, "long"));
  const part = fc.oneof({ weight: 9, arbitrary: bytes }, { weight: 1, arbitrary: long });
  const batch = fc.array(fc.tuple(part, part, part, part), { maxLength: MAX_BATCH });
  fc.assert(fc.property(batch, bytes, (parts, beginning) => {
    const hmac = new Hmac(key, text(beginning));
    const messages = parts.map(([a, b, c, end]) => ({
      prefix: hashPrefix(text(b), hashPrefix(text(a))),
      text: text(c),
      end,
    }));
    const wanted = parts.map((message) => hmacOf(key, beginning, hashOf(...message)));
    assert.deepEqual(hexOfDigests(hmac, messages), wanted);
    assert.deepEqual(hexOfDigests(hmac, messages), wanted, "a prefix can be continued twice");
  }));
});

Deno.test("SHA-256: the digest of a text is that of its bytes, however long it is", () => {
  const long = fc.integer({ min: 7900, max: 30_000 }).map((length) => Buffer.alloc(length, "long"));
  fc.assert(fc.property(fc.oneof(bytes, long), (message) => {
    assert.equal(digestHex(text(message)), hashOf(message));
  }));
});

Deno.test("HMAC: agrees with node:crypto for keys up to a block, and nothing is left of a message", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), bytes, bytes, (key, beginning, rest) => {
    const hmac = new Hmac(key, text(beginning));
    assert.equal(hmac.hex(text(rest)), hmacOf(key, beginning, rest));
    const message = { prefix: hashPrefix(""), text: text(rest), end: NO_BYTES };
    const wanted = hmacOf(key, beginning, hashOf(rest));
    assert.deepEqual(hexOfDigests(hmac, Array(MAX_BATCH).fill(message)), Array(MAX_BATCH).fill(wanted));
    assert.equal(hmac.hex(text(rest)), hmacOf(key, beginning, rest));
  }));
});

Deno.test("HMAC: a long message is taken whole", () => {
  const key = new Uint8Array(32);
  for (const length of [8000, 8001, 8100, 8192, 8193, 100_000]) {
    assert.equal(new Hmac(key, "").hex("m".repeat(length)), hmacOf(key, "m".repeat(length)), `${length} bytes`);
  }
});
