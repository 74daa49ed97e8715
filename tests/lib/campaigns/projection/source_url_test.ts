import assert from "node:assert/strict";
import fc from "fast-check";
import { openableSource } from "@/lib/campaigns/projection/source_url.ts";

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

Deno.test("source: each returned URL parses as http(s) and is the text itself", () => {
  const text = fc.oneof(
    fc.webUrl({ withQueryParameters: true }),
    fc.string().map((rest) => `https://${rest}`),
  );
  fc.assert(fc.property(text, (url) => {
    const kept = openableSource(url);
    if (kept === null) return;
    assert.equal(kept, url);
    assert.match(new URL(kept).protocol, /^https?:$/);
  }));
});
