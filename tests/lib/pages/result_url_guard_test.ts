import assert from "node:assert/strict";
import { guardResultUrl } from "@/lib/pages/result_url_guard.ts";

const base = "https://site.example/results";

Deno.test("result URL: what lies under the results base is opened as a browser reads it", () => {
  const cases: [string, string][] = [
    [`${base}/ns/p/a/alto/1.xml`, `${base}/ns/p/a/alto/1.xml`],
    [`${base}/ns/p/a%20b%C3%A5/1.xml?x=%2F#t`, `${base}/ns/p/a%20b%C3%A5/1.xml?x=%2F#t`],
    ["HTTPS://SITE.example:443/results/ns/x", `${base}/ns/x`],
    [`${base}/ns/../other/x`, `${base}/other/x`],
    [`${base}/ns/%2e%2E/x`, `${base}/x`],
    [`https://site.example/elsewhere/../results/x`, `${base}/x`],
    [`${base}/a%252Fb`, `${base}/a%252Fb`],
    [`${base}/a?b=\\`, `${base}/a?b=\\`],
  ];
  for (const [text, href] of cases) {
    assert.deepEqual(guardResultUrl(text, base), { ok: true, href }, text);
  }
  assert.equal(guardResultUrl(`${base}/x`, `${base}/`).ok, true);
  assert.equal(guardResultUrl("http://h/a%2Fb/x", "http://h/a%2Fb").ok, true);
});

Deno.test("result URL: everything else is refused, with its reason", () => {
  const cases: [string | null, string][] = [
    [null, "not a URL"],
    ["", "not a URL"],
    ["/results/ns/x", "not a URL"],
    ["//site.example/results/x", "not a URL"],
    ["javascript:alert(1)", "not a URL"],
    ["data:text/plain,x", "not a URL"],
    ["file:///results/x", "not a URL"],
    ["blob:https://site.example/results/x", "not a URL"],
    [` ${base}/x`, "not a URL"],
    [`${base}/x `, "not a URL"],
    [`${base}/x\n`, "not a URL"],
    [`\u0001${base}/x`, "not a URL"],
    [`https://site.exa\tmple/results/x`, "not a URL"],
    ["https://other.example/results/x", "outside the results"],
    ["https://site.example.other/results/x", "outside the results"],
    ["http://site.example/results/x", "outside the results"],
    ["https://site.example:8443/results/x", "outside the results"],
    ["https://site.example/", "outside the results"],
    ["https://site.example/results", "outside the results"],
    ["https://site.example/results2/x", "outside the results"],
    ["https://site.example/RESULTS/x", "outside the results"],
    [`${base}/../x`, "outside the results"],
    [`${base}/ns/../../x`, "outside the results"],
    [`${base}/%2e%2e/x`, "outside the results"],
    [`${base}/..\\x`, "outside the results"],
    ["https://user@site.example/results/x", "outside the results"],
    ["https://user:secret@site.example/results/x", "outside the results"],
    ["https://site.example@other.example/results/x", "outside the results"],
    ["https://site.example\\@other.example/results/x", "outside the results"],
    [`${base}\\x`, "escaped separator"],
    [`${base}/ns\\x`, "escaped separator"],
    [`https:\\\\site.example/results/x`, "escaped separator"],
    [`${base}/ns%2Fx`, "escaped separator"],
    [`${base}/ns/a%2fb`, "escaped separator"],
    [`${base}/ns/..%5Cb`, "escaped separator"],
    [`${base}/ns/%5c`, "escaped separator"],
  ];
  for (const [text, refused] of cases) {
    assert.deepEqual(guardResultUrl(text, base), { ok: false, refused }, `${text}`);
  }
});

Deno.test("result URL: without a base any http(s) URL passes but one with credentials, a broken base passes none", () => {
  assert.deepEqual(guardResultUrl("http://any.example/x", ""), {
    ok: true,
    href: "http://any.example/x",
  });
  assert.equal(guardResultUrl("ftp://any.example/x", "").ok, false);
  assert.equal(guardResultUrl("http://u:p@any.example/x", "").ok, false);
  assert.equal(guardResultUrl(" http://any.example/x", "").ok, false);
  assert.equal(guardResultUrl("http://any.example\\x", "").ok, false);
  for (const broken of ["results", "/results", "ftp://site.example/results", "https://"]) {
    assert.equal(guardResultUrl(`${base}/x`, broken).ok, false, broken);
  }
});
