import assert from "node:assert/strict";
import fc from "fast-check";

import { NO_FILTER, SEGMENTS } from "@/lib/presentation/campaign_filter.ts";
import { SORTS } from "@/lib/presentation/campaign_order.ts";
import { listPath, readFrom, readListAddress } from "@/lib/presentation/list_address.ts";

const read = (path: string) => readListAddress(new URL(path, "http://site.example").searchParams);

Deno.test("list address: what is written is read back, and defaults are left out", () => {
  const text = fc.string({ maxLength: 40 }).map((text) => text.trim());
  fc.assert(fc.property(
    fc.record({ segment: fc.constantFrom(...SEGMENTS), text, pipeline: text, namespace: text }, {
      noNullPrototype: true,
    }),
    fc.constantFrom(...SORTS),
    (filter, sort) => assert.deepEqual(read(listPath({ filter, sort })), { filter, sort }),
  ));
  assert.equal(listPath({ filter: NO_FILTER, sort: "state" }), "/");
  assert.equal(
    listPath({ filter: { ...NO_FILTER, text: "å ä" }, sort: "name" }, 50),
    "/?q=%C3%A5+%C3%A4&sort=name&from=50",
  );
});

Deno.test("list address: what cannot be read is left at its default, and a text is cut", () => {
  assert.deepEqual(read("/?state=lost&sort=size&open=a/b"), { filter: NO_FILTER, sort: "state" });
  assert.equal(read(`/?q=${"x".repeat(5000)}`).filter.text.length, 200);
  for (const from of ["-1", "1e3", "0x10", "", "99999999"]) {
    assert.equal(readFrom(new URLSearchParams({ from })), 0, from);
  }
  assert.equal(readFrom(new URLSearchParams("from=150")), 150);
});
