import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCopySource } from "@/lib/embedded/store/s3/copy_source.ts";
import { MAX_XML_BYTES, readXml, type XmlElement } from "@/lib/embedded/store/s3/read_xml.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import { keptTags, statedTags } from "@/lib/embedded/store/s3/tags.ts";
import { escapeXml } from "@/lib/embedded/store/s3/xml.ts";

const read = (text: string) => readXml(new TextEncoder().encode(text));

Deno.test("XML: elements, text and the known entities are read, attributes passed over", () => {
  const text =
    '\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<s:A xmlns:s="http://x/" b=\'1\'>\r\n<B>x &lt;&#x41;&#66;&amp;&gt;</B><C/></s:A>\n';
  assert.deepEqual(read(text), {
    name: "A",
    text: "\n",
    children: [{ name: "B", text: "x <AB&>", children: [] }, { name: "C", text: "", children: [] }],
  });
});

Deno.test("XML: what is not well formed, expands or is too much is refused", () => {
  const refused = [
    "",
    "text",
    "<a>",
    "</a>",
    "<a></b>",
    "<a/><b/>",
    "<a/>x",
    "<a b></a>",
    "<a>&x;</a>",
    "<a>& </a>",
    "<a>&#0;</a>",
    "<a>&#xD800;</a>",
    "<a>&#x110000;</a>",
    "<a>&constructor;</a>",
    "<a><![CDATA[x]]></a>",
    "<a><!-- x --></a>",
    "<a><?x y?></a>",
    '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
    "<a>".repeat(17) + "</a>".repeat(17),
    `<a>${" ".repeat(MAX_XML_BYTES)}</a>`,
  ];
  for (const text of refused) assert.throws(() => read(text), { code: "MalformedXML" }, text.slice(0, 40));
  assert.throws(() => readXml(Uint8Array.of(0x3c, 0x61, 0x3e, 0xff)), { code: "MalformedXML" });
  read("<a>".repeat(16) + "</a>".repeat(16));
});

Deno.test("XML: any tree that is written is read again; any text at all is read or refused by name", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "<", "&", ">", '"', "'", "]", "ö", "\u{1f600}", "\n", " ") });
  const tree = (levels: number): fc.Arbitrary<XmlElement> =>
    fc.record({
      name: fc.constantFrom("A", "Key", "b-c"),
      text,
      children: levels === 0 ? fc.constant([]) : fc.array(tree(levels - 1), { maxLength: 3 }),
    }, { noNullPrototype: true });
  const written = ({ name, text, children }: XmlElement): string =>
    `<${name}>${escapeXml(text)}${children.map(written).join("")}</${name}>`;
  fc.assert(fc.property(tree(3), (element) => assert.deepEqual(read(written(element)), element)));
  const pieces = fc.constantFrom("<a>", "</a>", "<", ">", "/", "&", "&amp;", "a", "=", '"', "<!", "<?", " ", "x");
  fc.assert(fc.property(fc.array(pieces), (parts) => {
    try {
      read(parts.join(""));
    } catch (error) {
      assert.ok(error instanceof S3Error && error.code === "MalformedXML", String(error));
    }
  }));
});

Deno.test("copy source: any bucket, key and version survive their encoding", () => {
  const key = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(fc.property(key, fc.option(fc.constantFrom("null", "123")), fc.boolean(), (key, version, slash) => {
    const header = `${slash ? "/" : ""}bucket/${encodeURIComponent(key)}${version ? `?versionId=${version}` : ""}`;
    assert.deepEqual(parseCopySource(header), { bucket: "bucket", key, version });
  }));
});

Deno.test("tags: a header that is written as a query is read again, and any other is refused by name", () => {
  const tag = fc.tuple(fc.stringMatching(/^[a-zåäö0-9 +=._:/@-]{1,20}$/), fc.stringMatching(/^[A-Z +=._:/@-]{0,20}$/));
  fc.assert(fc.property(fc.uniqueArray(tag, { maxLength: 10, selector: ([key]) => key }), (tags) => {
    fc.pre(tags.every(([key]) => !key.startsWith("aws:")));
    assert.deepEqual(keptTags(statedTags(new URLSearchParams(tags).toString())), tags);
  }));
  fc.assert(fc.property(fc.string(), (text) => {
    try {
      statedTags(text);
    } catch (error) {
      assert.ok(error instanceof S3Error, String(error));
    }
  }));
});
