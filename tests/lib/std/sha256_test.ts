import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { digestWords, hashPrefix, hexOf, hmacAfter } from "@/lib/std/sha256.ts";

const bytes = fc.uint8Array({ maxLength: 300 });
const text = (value: Uint8Array) => Buffer.from(value).toString("latin1");

Deno.test("SHA-256: agrees with node:crypto, however the message is split", () => {
  for (let length = 0; length < 200; length++) {
    const message = "b".repeat(length);
    assert.equal(hexOf(digestWords(message)), createHash("sha256").update(message).digest("hex"), `${length} bytes`);
  }
  fc.assert(fc.property(bytes, bytes, bytes, (a, b, c) => {
    const prefix = hashPrefix(text(b), hashPrefix(text(a)));
    const wanted = createHash("sha256").update(a).update(b).update(c).digest("hex");
    assert.equal(hexOf(digestWords(text(c), prefix)), wanted);
    assert.equal(hexOf(digestWords(text(c), prefix)), wanted, "a prefix can be continued twice");
  }));
});

Deno.test("HMAC: agrees with node:crypto for keys up to a block", () => {
  fc.assert(fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), bytes, bytes, (key, beginning, rest) => {
    const wanted = createHmac("sha256", key).update(beginning).update(rest).digest("hex");
    assert.equal(hexOf(hmacAfter(key, text(beginning))(text(rest))), wanted);
  }));
});
