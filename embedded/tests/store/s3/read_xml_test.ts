import fc from "fast-check";
import assert from "node:assert/strict";
import { completedParts } from "@/embedded/store/s3/multipart_uploads.ts";
import { childText, childWord, MAX_XML_BYTES, readXml, xmlTime } from "@/embedded/store/s3/xml.ts";
import { StoreError } from "@/embedded/store/store_error.ts";

const read = (text: string) => readXml(new TextEncoder().encode(text));
const malformed = (error: unknown) =>
  error instanceof StoreError && error.code === "MalformedXML" && error.status === 400;

Deno.test("XML: entities, attributes, prefixes and line ends are read", () => {
  const root = read(`<s3:a x="1 > 0" y='"'>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;\r\n<b/> <c>\t d </c></s3:a>`);
  assert.equal(root.name, "a");
  assert.equal(root.text, `<&>"'A\u{1F600}\n `);
  assert.deepEqual(root.children.map((child) => child.name), ["b", "c"]);
  assert.deepEqual([childText(root, "c"), childText(root, "b"), childText(root, "none")], ["\t d ", "", null]);
  assert.deepEqual([childWord(root, "c"), childWord(root, "none")], ["d", null]);
});

Deno.test("XML: declarations, entities of one's own, comments and broken nesting are rejected", () => {
  const refused = [
    "",
    "text",
    `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`,
    "<a>&b;</a>",
    "<a>&</a>",
    "<a>&#xD800;</a>",
    "<a>&#0;</a>",
    "<a>&#1;</a>",
    "<a>&#x1F;</a>",
    "<a>&#xFFFE;</a>",
    "<a>\u0001</a>",
    "<a>\uffff</a>",
    "<a>&#x110000;</a>",
    "<a><!-- c --></a>",
    "<a><![CDATA[b]]></a>",
    "<a><?php?></a>",
    "<a>",
    "</a>",
    "<a></b>",
    "<a/><b/>",
    "<a/>text",
    "<a b></a>",
    "<a b=c></a>",
    "<a><b></a></b>",
    "<a".repeat(40),
    "<a>".repeat(17) + "</a>".repeat(17),
  ];
  for (const input of refused) assert.throws(() => read(input), malformed, input);
  read("<a>".repeat(16) + "</a>".repeat(16));
  assert.throws(() => readXml(new Uint8Array([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e])), malformed);
  assert.throws(() => readXml(new Uint8Array(MAX_XML_BYTES + 1).fill(0x20)), malformed);
});

Deno.test("XML: a complete of 10,000 parts fits, with their checksums", () => {
  const part = (number: number) =>
    `<Part><ETag>&quot;${"0".repeat(32)}&quot;</ETag><ChecksumSHA256>${"A".repeat(43)}=</ChecksumSHA256>` +
    `<PartNumber>${number}</PartNumber></Part>`;
  const all = Array.from({ length: 10_000 }, (_, i) => part(i + 1)).join("");
  const parts = completedParts(read(`<CompleteMultipartUpload>${all}</CompleteMultipartUpload>`));
  assert.equal(parts.length, 10_000);
  assert.deepEqual(parts[9_999], {
    number: 10_000,
    etag: "0".repeat(32),
    checksums: { sha256: `${"A".repeat(43)}=` },
  });
});

Deno.test("XML: a child read as text occurs once, and is text", () => {
  const root = read("<a><b>1</b><b>2</b><c><d/></c></a>");
  for (const name of ["b", "c"]) assert.throws(() => childText(root, name), malformed);
});

Deno.test("XML: elements are counted, and a repeated tag is checked at each position", () => {
  read(`<a>${"<b/>".repeat(99_999)}</a>`);
  assert.throws(() => read(`<a>${"<b/>".repeat(100_000)}</a>`), malformed);
  assert.throws(() => read("<a><b></b><b></a></b>"), malformed);
  assert.throws(() => read("<a></a><a></a>"), malformed);
  assert.equal(childText(read(`<a><b></b><b x=">"></b><c>&lt;b&gt;</c></a>`), "c"), "<b>");
});

Deno.test("S3 XML: a time matches the runtime's text in whole seconds", () => {
  fc.assert(fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
    assert.equal(xmlTime(ms), new Date(Math.floor(ms / 1000) * 1000).toISOString());
  }));
  for (const ms of [0, -1, 999, 1000, 59_999, 60_000, 3_599_999, 86_399_999, 86_400_000, 1_795_410_948_392]) {
    assert.equal(xmlTime(ms), new Date(Math.floor(ms / 1000) * 1000).toISOString());
  }
});
