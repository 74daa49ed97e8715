import fc from "fast-check";
import assert from "node:assert/strict";
import {
  encodeSegment,
  openableSource,
  progressUrls,
  resultsBaseOf,
  volumeLinks,
} from "@/lib/campaigns/projection/urls.ts";

Deno.test("result URLs: namespaced, under the results URL without its closing slashes", () => {
  assert.equal(resultsBaseOf("https://a.example/results//", "ns", "lion-v2"), "https://a.example/results/ns/lion-v2");
  assert.deepEqual(
    volumeLinks("https://a.example/results/", "ns", "lion.v2")("SE-1"),
    {
      manifestUrl: "https://a.example/results/ns/lion.v2/SE-1/manifest.json",
      iiifUrl: "https://a.example/results/ns/lion.v2/SE-1/iiif.json",
      altoPrefix: "https://a.example/results/ns/lion.v2/SE-1/alto/",
      logUrl: "https://a.example/results/ns/status/logs/lion.v2/SE-1.txt",
    },
  );
  assert.deepEqual(
    progressUrls("http://results:8082/results", "ns", "p", "a/b"),
    {
      progress: "http://results:8082/results/ns/p/a%2Fb/progress.json",
      manifest: "http://results:8082/results/ns/p/a%2Fb/manifest.json",
    },
  );
});

Deno.test("result URLs: everything but letters, digits and _.-~ of an id is encoded", () => {
  const cases: [string, string][] = [
    ["Az09_.-~", "Az09_.-~"],
    ["'()*!", "%27%28%29%2A%21"],
    ["../x", "..%2Fx"],
    ["a b+c?d#e%f", "a%20b%2Bc%3Fd%23e%25f"],
    ["åö", "%C3%A5%C3%B6"],
    ["\ud800", "%EF%BF%BD"],
  ];
  for (const [id, key] of cases) assert.equal(encodeSegment(id), key, id);
});

Deno.test("result URLs: any id is one segment that decodes to itself", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (id) => {
    const key = encodeSegment(id);
    assert.match(key, /^(?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})*$/);
    assert.equal(decodeURIComponent(key), id.toWellFormed());
  }));
});

Deno.test("source: URLs that every browser opens are returned as written", () => {
  const kept = [
    "https://archive.example/iiif/1/manifest",
    "HTTP://Archive.Example/x",
    "https://user:pass@archive.example/x",
    "https://archive.example./x",
    "https://archive.example:/x",
    "https://archive.example:8443/x?y=1#z",
    "https://my_archive.example/x",
    "https://räksmörgås.example/x",
    "https://192.0.2.7/x",
    "https://[2001:db8::1]:8080/x",
    "http://localhost",
    "https://archive.example/a%2Fb|c^d",
    "https://archive.example/%zz",
    "https://archive.example:0/",
    "https://a.example?q",
  ];
  for (const url of kept) assert.equal(openableSource(url), url, url);
});

Deno.test("source: everything else has no link", () => {
  const refused = [
    "",
    "images:https://archive.example/1.jpg https://archive.example/2.jpg",
    "ftp://archive.example/x",
    "javascript:alert(1)",
    "//archive.example/x",
    "https:archive.example/x",
    "https:///archive.example/x",
    "https://",
    " https://archive.example/x",
    "https://archive.example/a b",
    "https://archive.example/a\u0000b",
    "https://archive.example/a\u007fb",
    "https://archive.example/a\tb",
    "https://archive.example\\x",
    "https://archive.example:99999/x",
    "https://archive.example:8x/x",
    "https://ex%61mple.example/x",
    "https://a<b.example/x",
    "https://a^b.example/x",
    "https://a|b.example/x",
    "https://a!b.example/x",
    "https://1.2.3.999/x",
    "https://1.2.3/x",
    "https://01.2.3.4/x",
    "https://0x7f000001/x",
    "https://archive.123/x",
    "https://xn--a/x",
    "https://xn--ls8h=.example/x",
    "https://[fe80::1%25eth0]/x",
    "https://[::1/x",
    "https://a..example/x",
    "https://archive.example../x",
  ];
  for (const url of refused) assert.equal(openableSource(url), null, url);
  assert.equal(openableSource(null), null);
});
