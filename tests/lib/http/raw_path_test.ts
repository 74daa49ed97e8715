import assert from "node:assert/strict";
import { headerText } from "@/lib/http/header_values.ts";
import { decodeKey, decodeParameter, hasDotSegment, rawTarget } from "@/lib/http/raw_path.ts";

Deno.test("raw target: path and query as they were sent", () => {
  assert.deepEqual(rawTarget("http://h/a/../b%2F//?x=%zz?y#f"), { path: "/a/../b%2F//", query: "x=%zz?y" });
  assert.deepEqual(rawTarget("http://h:1/"), { path: "/", query: "" });
  assert.deepEqual(rawTarget("http://h"), { path: "/", query: "" });
  assert.deepEqual(rawTarget("http://h/a#b?c"), { path: "/a", query: "" });
});

Deno.test("parameters: decoded once, or rejected by name", () => {
  assert.equal(decodeParameter("key", "a%252Fb%2Fc+d"), "a%2Fb/c+d");
  for (const raw of ["%", "%4", "%zz", "%c3", "%00"]) {
    assert.throws(() => decodeParameter("key", raw), { status: 400, message: /^key: / });
  }
});

Deno.test("keys: decoded once, any character is part of them", () => {
  assert.equal(decodeKey("%00%0A%2F%252F%F0%9F%97%84"), "\0\n/%2F\u{1F5C4}");
  for (const raw of ["%", "%zz", "%c3", "%ed%a0%80"]) {
    assert.throws(() => decodeKey(raw), { status: 400, message: "key: malformed percent-encoding" });
  }
});

Deno.test("dot segments: found in every spelling, and only as whole segments", () => {
  for (const path of ["/.", "/a/..", "/a/../b", "/%2e/x", "/a/.%2E", "./x"]) assert.ok(hasDotSegment(path), path);
  for (const path of ["/a.b", "/...", "/.a/b..", "/a/x./", "/"]) {
    assert.ok(!hasDotSegment(path), path);
  }
});

Deno.test("header text: whatever it holds, a header carries it", () => {
  assert.equal(headerText("plain text"), "plain text");
  assert.equal(headerText("å\r\n€\ud800"), "%C3%A5%0D%0A%E2%82%AC%EF%BF%BD");
  new Headers({ x: headerText("\0\u{1F600}") });
});
