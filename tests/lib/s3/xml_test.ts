import assert from "node:assert/strict";
import fc from "fast-check";
import { MalformedXml, readListing, scanXml } from "@/lib/s3/xml.ts";

/** What a scan reports, in its order. */
function scanned(xml: string): string[] {
  const events: string[] = [];
  scanXml(xml, {
    leaf: (path, text) => events.push(`${path}=${text}`),
    close: (path) => events.push(`/${path}`),
  });
  return events;
}

Deno.test("XML scan: leaves with their paths and texts, elements with children when they end", () => {
  assert.deepEqual(
    scanned(
      '<?xml version="1.0"?><!-- <no/> --><a xmlns="x"><p:b c="d"> 1 </p:b><e/>\n<f><g>2</g ></f><![CDATA[<]]></a>\n',
    ),
    ["a/b= 1 ", "a/e=", "a/f/g=2", "/a/f", "/a"],
  );
});

Deno.test("XML scan: texts of any entities, sections and comments", () => {
  assert.deepEqual(scanned("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;<![CDATA[&lt;]]><!-- - -->!</a>"), [
    "a=<>&\"'A😀&lt;!",
  ]);
});

Deno.test("XML scan: what is not well-formed, declares a type or is too deep is refused", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  assert.equal(scanned(nested(16)).length, 16);
  const bad = [
    "",
    " ",
    "text",
    "<a>",
    "</a>",
    "<a></b>",
    "<a></ab>",
    "<a></a",
    "<a/><b/>",
    "<a></a></a>",
    "<>",
    "</>",
    "<p:></p:>",
    "<a>&nbsp;</a>",
    "<a>&lt</a>",
    "<a>&</a>",
    "<!DOCTYPE a><a/>",
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    "<a><!ELEMENT b></a>",
    "<a><!-- </a>",
    "<a><![CDATA[</a>",
    "<?xml <a/>",
    nested(17),
  ];
  for (const xml of bad) assert.throws(() => scanned(xml), MalformedXml, xml);
});

Deno.test("XML scan: any text is read or refused as malformed", () => {
  const markup = fc.constantFrom(
    "<a>",
    "</a>",
    "<a/>",
    "<b>",
    "</b>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "&lt;",
    "<",
  );
  fc.assert(fc.property(fc.array(fc.oneof(markup, fc.string({ maxLength: 3 }))), (parts) => {
    try {
      scanned(parts.join(""));
    } catch (error) {
      assert.ok(error instanceof MalformedXml);
    }
  }));
});

Deno.test("XML listing: entries in their order, members by their paths, empty entries left out", () => {
  const listing = readListing(
    "<r><a><k>1</k><o><i>x</i></o></a><m>n</m><a/><b><k>2</k></b><p><q>s</q></p><c><k>3</k></c></r>",
    "r",
    ["a", "b"],
  );
  assert.deepEqual(listing.entries.map(({ name, members }) => [name, Object.fromEntries(members)]), [
    ["a", { "k": "1", "o/i": "x" }],
    ["b", { k: "2" }],
  ]);
  assert.deepEqual(Object.fromEntries(listing.members), { "m": "n", "a": "", "p/q": "s", "c/k": "3" });
  assert.equal(readListing("<r/>", "r", ["a"]).entries.length, 0);
});

Deno.test("XML listing: another root, another document or too many entries are refused", () => {
  for (
    const xml of [
      "<s/>",
      "<s><r/></s>",
      "<rr/>",
      "",
      "<r>",
      "<!DOCTYPE r><r/>",
      `<r>${"<a><k/></a>".repeat(10_001)}</r>`,
    ]
  ) {
    assert.throws(() => readListing(xml, "r", ["a"]), MalformedXml, xml.slice(0, 50));
  }
});
