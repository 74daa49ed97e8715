import assert from "node:assert/strict";
import { headerText } from "@/lib/http/header_values.ts";
import { decodeParameter } from "@/lib/http/app.ts";
import { hasDotSegment } from "@/lib/http/request_context.ts";

Deno.test("parameters: decoded once, or rejected by name", () => {
  assert.equal(decodeParameter("key", "a%252Fb%2Fc+d"), "a%2Fb/c+d");
  for (const raw of ["%", "%4", "%zz", "%c3", "%00"]) {
    assert.throws(() => decodeParameter("key", raw), { status: 400, message: /^key: / });
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
