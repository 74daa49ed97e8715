import assert from "node:assert/strict";
import fc from "fast-check";

import { mergePatch, sameJson } from "@/embedded/cluster/json_body.ts";

Deno.test("merge patch: the cases of RFC 7386, appendix A", () => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [["a", "b"], { a: 1 }, { a: 1 }],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, expected] of cases) {
    assert.deepEqual(mergePatch(target, patch), expected);
  }
});

Deno.test("merge patch: a member called __proto__ is a member, and changes no prototype", () => {
  const merged = mergePatch({ a: 1 }, JSON.parse('{"__proto__": {"admin": true}}'));
  assert.ok(Object.hasOwn(Object(merged), "__proto__"));
  assert.equal(Reflect.get(Object(merged), "admin"), undefined);
});

Deno.test("same JSON: any value equals its copy, whatever the order of its members", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
    const entries = Object.entries(value).reverse();
    assert.ok(sameJson(value, Object.fromEntries(structuredClone(entries))));
    assert.equal(sameJson(value, { ...value, "one more": 1, [`${entries.length} more`]: 2 }), false);
  }));
});
