import assert from "node:assert/strict";
import fc from "fast-check";

import {
  listPath,
  NO_FILTER,
  olderCount,
  readFrom,
  readListAddress,
  SEGMENTS,
  SORTS,
  withOlder,
} from "@/lib/pages/campaigns/campaign_filter.ts";

const read = (path: string) => readListAddress(new URL(path, "http://site.example").searchParams);

Deno.test("list address: what is written is read back, and defaults are left out", () => {
  const text = fc.string({ maxLength: 40 }).map((text) => text.trim());
  fc.assert(fc.property(
    fc.record({ segment: fc.constantFrom(...SEGMENTS), text, pipeline: text, namespace: text }, {
      noNullPrototype: true,
    }),
    fc.constantFrom(...SORTS),
    fc.integer({ min: 20, max: 10_000 }),
    (filter, sort, reaped) => assert.deepEqual(read(listPath({ filter, sort, reaped })), { filter, sort, reaped }),
  ));
  assert.equal(listPath({ filter: NO_FILTER, sort: "state", reaped: 20 }), "/");
  assert.equal(
    listPath({ filter: { ...NO_FILTER, text: "å ä" }, sort: "name", reaped: 40 }, 50),
    "/?q=%C3%A5+%C3%A4&sort=name&reaped=40&from=50",
  );
});

Deno.test("list address: what cannot be read is left at its default, and a text is cut", () => {
  assert.deepEqual(read("/?state=lost&sort=size&open=a/b"), { filter: NO_FILTER, sort: "state", reaped: 20 });
  assert.equal(read(`/?q=${"x".repeat(5000)}`).filter.text.length, 200);
  for (const from of ["-1", "1e3", "0x10", "", "99999999"]) {
    assert.equal(readFrom(new URLSearchParams({ from })), 0, from);
  }
  assert.equal(readFrom(new URLSearchParams("from=150")), 150);
});

Deno.test("list address: older campaigns are added by twenty up to the most that a list holds, however the address is written", () => {
  const reaped = (text: string) => read(`/?reaped=${text}`).reaped;
  assert.deepEqual(["40", "0", "-5", "1e3", "x", "99999", "123456"].map(reaped), [40, 20, 20, 20, 20, 10_000, 20]);
  assert.equal(withOlder(read("/?reaped=40")).reaped, 60);
  assert.equal(withOlder(read("/?reaped=9990")).reaped, 10_000);
  assert.equal(olderCount(12_000, 20), 9_980);
  assert.equal(olderCount(5, 7), 0);
});
