import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createSecretKey, randomBytes } from "node:crypto";
import { SealedEvents } from "@/lib/state/sealed_events.ts";

const KEY = createSecretKey(randomBytes(32));

function events(key = KEY, stream = "stackroom:events"): SealedEvents {
  return new SealedEvents(stream, () => [key]);
}

Deno.test("sealed events: another process with the key reads them once, its own sender never", () => {
  fc.assert(fc.property(fc.array(fc.jsonValue(), { maxLength: 8 }), (values) => {
    const [one, other, third] = [events(), events(), events()];
    const entry = one.seal(values);
    const read = JSON.parse(JSON.stringify(values));
    assert.deepEqual(other.open(entry), read);
    assert.deepEqual(other.open(entry), []);
    assert.deepEqual(one.open(entry), []);
    assert.deepEqual(third.open(entry), read);
  }));
});

Deno.test("sealed events: entries of several senders are told apart, and earlier ones do not come back", () => {
  const [one, other, reader] = [events(), events(), events()];
  const entries = [one.seal([1]), other.seal([2]), one.seal([3]), other.seal([4])];
  assert.deepEqual(entries.flatMap((entry) => reader.open(entry)), [1, 2, 3, 4]);
  assert.deepEqual(entries.flatMap((entry) => reader.open(entry)), []);
  const late = events();
  assert.deepEqual(late.open(entries[2]), [3]);
  assert.deepEqual(late.open(entries[0]), []);
});

Deno.test("sealed events: an entry reveals nothing, and opens with no other key and in no other stream", () => {
  const entry = events().seal([{ address: "192.0.2.7", account: "archive/curator" }]);
  const bytes = Buffer.from(entry, "base64url").toString("latin1");
  for (const word of ["192.0.2.7", "curator", "address"]) assert.ok(!bytes.includes(word) && !entry.includes(word));
  assert.deepEqual(events(createSecretKey(randomBytes(32))).open(entry), []);
  assert.deepEqual(events(KEY, "stackroom:others").open(entry), []);
  assert.equal(events().open(entry).length, 1);
  assert.deepEqual(events().open(events().seal(["x".repeat(64 * 1024)])), [], "too long");
});

Deno.test("sealed events: without a key nothing is read, and nothing can be sealed", () => {
  const none = new SealedEvents("stackroom:events", () => {
    throw new Error("no key");
  });
  assert.deepEqual(none.open(events().seal([1])), []);
  assert.throws(() => none.seal([1]), /no key/);
});

Deno.test("sealed events: while a key is replaced, entries of both are read, and the first one seals", () => {
  const next = createSecretKey(randomBytes(32));
  const both = new SealedEvents("stackroom:events", () => [KEY, next]);
  assert.deepEqual(both.open(events(next).seal([1])), [1]);
  assert.deepEqual(both.open(events().seal([2])), [2]);
  const entry = both.seal([3]);
  assert.deepEqual([events().open(entry), events(next).open(entry)], [[3], []]);
});
