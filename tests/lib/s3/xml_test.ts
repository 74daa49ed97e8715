import assert from "node:assert/strict";
import fc from "fast-check";
import { HttpError } from "@/lib/http/errors.ts";
import { fitsXml, MalformedXml, readListing, xmlBody, xmlElement } from "@/lib/s3/s3_xml.ts";

Deno.test("XML listing: entries in their order, members by their paths, empty entries left out", () => {
  const found: [string, object][] = [];
  const members = readListing(
    "<r><a><k>1</k><o><i>x</i></o></a><m>n</m><a/><b><k>2</k></b><p><q>s</q></p><c><k>3</k></c></r>",
    "r",
    {
      a: (entry) => found.push(["a", Object.fromEntries(entry)]),
      b: (entry) => found.push(["b", Object.fromEntries(entry)]),
    },
  );
  assert.deepEqual(found, [["a", { "k": "1", "o/i": "x" }], ["b", { k: "2" }]]);
  assert.deepEqual(Object.fromEntries(members), { "m": "n", "a": "", "p/q": "s", "c/k": "3" });
  assert.equal(readListing("<r/>", "r", {}).size, 0);
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
    assert.throws(() => readListing(xml, "r", { a() {} }), MalformedXml, xml.slice(0, 50));
  }
});

Deno.test("XML text: whatever XML can carry comes back, the rest is 400 naming the field", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    if (!fitsXml(text)) {
      assert.throws(() => xmlElement("Key", text, "keys.7"), (error) => {
        assert.ok(error instanceof HttpError);
        assert.equal(error.status, 400);
        assert.match(error.message, /^keys\.7: /);
        return true;
      });
      return;
    }
    const { body: document } = xmlBody("Delete", `<Object>${xmlElement("Key", text)}</Object>`);
    assert.ok(!/[\t\r\n]/.test(document), "white space is escaped, since readers may change it");
    readListing(document, "Delete", { Object: (entry) => assert.equal(entry.get("Key"), text) });
  }));
});

Deno.test("XML text: control characters, lone surrogates and non-characters do not fit", () => {
  for (const text of ["\0", "a\x01", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"]) assert.equal(fitsXml(text), false);
  for (const text of ["\t\r\n", "å & <b> ]]>", "\x7f", "😀", ""]) assert.equal(fitsXml(text), true);
  assert.equal(xmlElement("Key", "a&b<c>\r"), "<Key>a&amp;b&lt;c&gt;&#13;</Key>");
  assert.equal(xmlElement("Key", null) + xmlElement("Key", undefined), "");
});

Deno.test("XML body: its MD5 is that of the bytes", () => {
  const { body, headers } = xmlBody("a", "å");
  assert.equal(body, '<?xml version="1.0" encoding="UTF-8"?><a xmlns="http://s3.amazonaws.com/doc/2006-03-01/">å</a>');
  assert.equal(headers["content-md5"], "ohYUGw1JYUTCdArhtDE1fg==");
});
