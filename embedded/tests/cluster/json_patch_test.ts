import fc from "fast-check";
import assert from "node:assert/strict";
import { ApiError } from "@/embedded/cluster/api_status.ts";
import { jsonPatch } from "@/embedded/cluster/json_body.ts";

Deno.test("JSON patch: the operations of RFC 6902", () => {
  const cases: [unknown, unknown[], unknown][] = [
    [{ foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { foo: "bar", baz: "qux" }],
    [{ foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
    [{ foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc"] }], { foo: ["bar", ["abc"]] }],
    [{ baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
    [{ foo: ["bar", "qux"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar"] }],
    [{ baz: "qux" }, [{ op: "replace", path: "/baz", value: "boo" }], { baz: "boo" }],
    [{ a: { b: 1 }, c: {} }, [{ op: "move", from: "/a/b", path: "/c/d" }], { a: {}, c: { d: 1 } }],
    [{ foo: [1, 2, 3] }, [{ op: "move", from: "/foo/1", path: "/foo/2" }], { foo: [1, 3, 2] }],
    [{ a: 1 }, [{ op: "copy", from: "/a", path: "/b" }], { a: 1, b: 1 }],
    [{ "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
    [{ a: { "x/y": 1 } }, [{ op: "replace", path: "/a/x~1y", value: 2 }], { a: { "x/y": 2 } }],
  ];
  for (const [target, patch, expected] of cases) {
    const before = structuredClone(target);
    assert.deepEqual(jsonPatch(target, patch), expected);
    assert.deepEqual(target, before);
  }
});

Deno.test("JSON patch: inserted values are copies, which only the result holds", () => {
  const value = { list: [1] };
  const patch = [
    { op: "add", path: "/a", value },
    { op: "copy", from: "/a", path: "/b" },
    { op: "add", path: "/a/list/-", value: 2 },
    { op: "add", path: "/__proto__", value: { c: 1 } },
    { op: "replace", path: "/__proto__/c", value: 2 },
  ];
  const result = jsonPatch({}, patch);
  assert.equal(JSON.stringify(result), '{"a":{"list":[1,2]},"b":{"list":[1]},"__proto__":{"c":2}}');
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.deepEqual(value, { list: [1] });
});

Deno.test("JSON patch: thousands of operations change an object of many members", () => {
  const members = Array.from({ length: 50_000 }, (_, n) => [`k${n}`, "v"]);
  const patch = Array.from({ length: 10_000 }, (_, n) => ({ op: "add", path: `/data/x${n}`, value: "y" }));
  const { data } = jsonPatch({ data: Object.fromEntries(members) }, patch) as { data: Record<string, string> };
  assert.equal(Object.keys(data).length, 60_000);
});

Deno.test("JSON patch: operations that shift too many elements of a list are rejected", () => {
  const x = Array.from({ length: 1_000_000 }, (_, n) => n);
  const patch = (op: string, path: string, length = 10_000) => Array.from({ length }, () => ({ op, path, value: 7 }));
  const isTooLarge = (error: unknown) =>
    error instanceof ApiError && error.code === 413 && / shift /.test(error.message);
  assert.throws(() => jsonPatch({ x }, patch("add", "/x/1")), isTooLarge);
  assert.throws(() => jsonPatch({ x }, patch("remove", "/x/0")), isTooLarge);
  const move = { op: "move", from: "/x/0", path: "/x/500000" };
  assert.throws(() => jsonPatch({ x }, Array.from({ length: 10_000 }, () => move)), isTooLarge);
  for (
    const [op, path, length] of [["add", "/x/-", 1_010_000], ["replace", "/x/0", 1e6], [
      "remove",
      "/x/990000",
      990_000,
    ]] as const
  ) {
    assert.equal((jsonPatch({ x }, patch(op, path)) as { x: unknown[] }).x.length, length, op);
  }
  assert.throws(() => jsonPatch({ x }, patch("add", "/x/0", 100)), isTooLarge, "more than 100 million in all");
  assert.equal((jsonPatch({ x }, patch("add", "/x/0", 99)) as { x: unknown[] }).x.length, 1_000_099);
  // Every operation may shift a list of as many elements as there may be operations.
  const { short } = jsonPatch({ short: x.slice(0, 5000) }, patch("add", "/short/0", 5000)) as { short: unknown[] };
  assert.equal(short.length, 10_000);
});

Deno.test("JSON patch: the copies of a patch have three million characters in all, and no more", () => {
  // With its quotation marks a mebi.
  const text = "x".repeat(1024 * 1024 - 2);
  const patch = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ op: "copy", from: "/a", path: `/b${n}` }));
  assert.equal(Object.keys(jsonPatch({ a: text }, patch(3)) as object).length, 4);
  const isTooLarge = (error: unknown) =>
    error instanceof ApiError && error.code === 413 && / copies /.test(error.message);
  assert.throws(() => jsonPatch({ a: text }, patch(4)), isTooLarge);
});

Deno.test("JSON patch: a patch that does not fit is rejected", () => {
  const bad: [unknown, number][] = [
    [{}, 400],
    [[{ op: "test", path: "/a", value: 2 }], 422],
    [[{ op: "remove", path: "/none" }], 422],
    [[{ op: "replace", path: "/none", value: 1 }], 422],
    [[{ op: "add", path: "/none/b", value: 1 }], 422],
    [[{ op: "add", path: "/list/3", value: 1 }], 422],
    [[{ op: "add", path: "/list/01", value: 1 }], 422],
    [[{ op: "add", path: "/b" }], 400],
    [[{ op: "spoil", path: "/a" }], 400],
    [[{ op: "add", path: "a", value: 1 }], 400],
    [[{ op: "add", path: "/toString/x", value: 1 }], 422],
    [[{ op: "move", from: "/list", path: "/list/0" }], 422],
    [Array.from({ length: 40 }, (_, n) => ({ op: "copy", from: "", path: `/c${n}` })), 413],
    [Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a", value: 1 })), 413],
  ];
  for (const [patch, code] of bad) {
    assert.throws(
      () => jsonPatch({ a: 1, list: [0] }, patch),
      (error) => error instanceof ApiError && error.code === code,
      JSON.stringify(patch).slice(0, 80),
    );
  }
  const step = fc.record({
    op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
    path: fc.constantFrom("", "/a", "/list/0", "/list/-", "/__proto__", "/x/y"),
    from: fc.constantFrom("", "/a", "/list"),
    value: fc.jsonValue(),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 4 }), (patch) => {
    try {
      jsonPatch({ a: 1, list: [0] }, patch);
    } catch (error) {
      assert.ok(error instanceof ApiError, String(error));
    }
  }));
});
