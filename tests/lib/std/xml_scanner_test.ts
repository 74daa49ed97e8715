import assert from "node:assert/strict";
import fc from "fast-check";
import { unescapeXml, XmlScanner } from "@/lib/std/xml_scanner.ts";

/** The tokens of a document, with what each is about. */
function tokens(xml: string): string[] {
  const scanner = new XmlScanner(xml);
  const found: string[] = [];
  for (;;) {
    const token = scanner.next();
    switch (token) {
      case "open":
        found.push(`open ${scanner.name} ${JSON.stringify(Object.fromEntries(scanner.attributes))} ${scanner.depth}`);
        break;
      case "close":
        found.push(`close ${scanner.name} ${scanner.depth}`);
        break;
      case "text":
        found.push(`text ${scanner.text}`);
        break;
      case "other":
        found.push(`other ${xml.slice(scanner.start, scanner.end)}`);
        break;
      default:
        assert.equal(scanner.next(), token);
        return [...found, token];
    }
  }
}

Deno.test("XML scanner: tokens, names without prefix, decoded values, depths", () => {
  assert.deepEqual(
    tokens(`<?xml version="1.0"?><!DOCTYPE a><a:b c:d='1"&lt;' e = "&#229;>"><!--x--><f/>t&amp;<![CDATA[<&]]></a:b >`),
    [
      `other <?xml version="1.0"?>`,
      "other <!DOCTYPE a>",
      `open b {"c:d":"1\\"<","e":"å>"} 1`,
      "other <!--x-->",
      "open f {} 2",
      "close f 2",
      "text t&",
      "text <&",
      "close b 1",
      "end",
    ],
  );
});

Deno.test("XML scanner: what is not well-formed ends as malformed", () => {
  for (
    const xml of [
      "<",
      "<>",
      "< a/>",
      "<a",
      "<a b",
      "<a b=",
      '<a b="',
      "<a / >",
      "</a>",
      "<a></b>",
      "<a></a",
      "<a><b></a></b>",
      "<a/>x",
      "x<a/>",
      "<a/><!DOCTYPE a>",
      "<![CDATA[x]]><a/>",
      "<a><![CDATA[x]></a>",
      "<a>&x;</a>",
      "<a>&lt</a>",
      '<a b="&"/>',
      "<!ELEMENT a>",
      "<?",
    ]
  ) assert.equal(tokens(xml).at(-1), "malformed", xml);
});

Deno.test("XML scanner: tokens follow one another without a gap, and every opened element is closed", () => {
  const part = fc.constantFrom(
    "<a>",
    "</a>",
    "<b c='&lt;' d=\">\"/>",
    "text",
    "&amp;",
    "<!--<-->",
    "<?p?>",
    "<![CDATA[]]]>",
    " ",
    "<",
    ">",
    '"',
  );
  fc.assert(fc.property(fc.array(part), (parts) => {
    const xml = `<a>${parts.join("")}</a>`;
    const scanner = new XmlScanner(xml);
    let at = 0;
    let open = 0;
    for (let token = scanner.next(); token !== "end"; token = scanner.next()) {
      if (token === "malformed") return;
      assert.equal(scanner.start, at);
      at = scanner.end;
      if (token === "open") assert.equal(scanner.depth, ++open);
      if (token === "close") assert.equal(scanner.depth, open--);
    }
    assert.deepEqual([at, open], [xml.length, 0]);
  }));
});

Deno.test("XML entities: numbers of characters alone, however they are written", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const numbers = (write: (point: number) => string) =>
      Array.from(text, (character) => `&#${write(character.codePointAt(0)!)};`).join("");
    assert.equal(unescapeXml(numbers(String)), text);
    assert.equal(unescapeXml(numbers((point) => `x${point.toString(16)}`)), text);
  }));
  for (
    const text of ["&#xD800;", "&#57343;", "&#x110000;", "&#;", "&#x;", "&#-1;", "&constructor;", "&lt", "&#99999999;"]
  ) {
    assert.equal(unescapeXml(text), undefined, text);
  }
});
