import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeSegment, progressUrls, resultsBaseOf, volumeLinks } from "@/lib/campaigns/projection/urls.ts";

Deno.test("result URLs: namespaced, under the results URL without its closing slashes", () => {
  assert.equal(
    resultsBaseOf("https://a.example/results//", "ns", "lion-v2"),
    "https://a.example/results/ns/lion-v2",
  );
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
