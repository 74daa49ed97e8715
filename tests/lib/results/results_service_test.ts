import fc from "fast-check";
import assert from "node:assert/strict";
import { resultKey } from "@/lib/results/results_service.ts";

const SERVED = ["ns-a", "ns-b"];

Deno.test("result key: the raw path is decoded exactly once", () => {
  const cases = [
    ["/results/ns-a/x", "ns-a/x"],
    ["/results/ns-b/status/logs/p/v%201.txt", "ns-b/status/logs/p/v 1.txt"],
    ["/results/ns-a/%C3%A5+b", "ns-a/å+b"],
    ["/results/ns-a/%2541", "ns-a/%41"],
    ["/results/ns-a/%252e%252e/x", "ns-a/%2e%2e/x"],
    ["/results/ns-a/%252Fx", "ns-a/%2Fx"],
    ["/results/ns%2Da/x", "ns-a/x"],
    ["/results/ns-a/...", "ns-a/..."],
    ["/results/ns-a/a.b..c/.x", "ns-a/a.b..c/.x"],
    ["/results/ns-a/a;b=c&d", "ns-a/a;b=c&d"],
    [`/results/ns-a/${"a".repeat(1019)}`, `ns-a/${"a".repeat(1019)}`],
  ];
  for (const [path, key] of cases) assert.equal(resultKey(path, SERVED), key, path);
});

Deno.test("result key: what is not surely a key of a served namespace is none", () => {
  for (
    const path of [
      "",
      "/",
      "/results",
      "/results/",
      "/results/ns-a",
      "/results/ns-a/",
      "/results//ns-a/x",
      "/results/ns-a//x",
      "/results/ns-a/x/",
      "/results/./ns-a/x",
      "/results/ns-a/.",
      "/results/ns-a/../ns-b/x",
      "/results/ns-a/%2e%2e/ns-b/x",
      "/results/ns-a/.%2E",
      "/results/ns-a/x%2fy",
      "/results/ns-a%2Fx/y",
      "/results/ns-a/x%5cy",
      "/results/ns-a/x%5Cy",
      "/results/ns-a/x\\y",
      "/results/ns-a/%",
      "/results/ns-a/%4",
      "/results/ns-a/%ff",
      "/results/ns-a/%c0%ae%c0%ae",
      "/results/ns-a/%ed%a0%80",
      "/results/ns-a/%00",
      "/results/ns-a/å",
      "/results/ns-a/a b",
      "/results/ns-a/a\nb",
      "/results/NS-A/x",
      "/results/ns-c/x",
      "/results/status/logs/p/v.txt",
      "/results/__proto__/x",
      "/Results/ns-a/x",
      "/results%2Fns-a/x",
      "results/ns-a/x",
      "//results/ns-a/x",
      `/results/ns-a/${"a".repeat(1020)}`,
      `/results/ns-a/${"%C3%A5".repeat(510)}`,
    ]
  ) {
    assert.equal(resultKey(path, SERVED), null, path);
  }
});

Deno.test("result key: lies in a served namespace without dot segments for any path", () => {
  const part = fc.constantFrom("/", "..", ".", "%2e", "%2f", "%5c", "\\", "%", "%25", "a", "ns-a", "ns-c", "%00", "å");
  fc.assert(fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
    const key = resultKey("/results/" + parts.join(""), SERVED);
    if (key === null) return;
    const segments = key.split("/");
    assert.ok(SERVED.includes(segments[0]) && segments.length > 1);
    assert.ok(!segments.some((segment) => ["", ".", ".."].includes(segment) || /[\\\0]/.test(segment)));
  }));
});
