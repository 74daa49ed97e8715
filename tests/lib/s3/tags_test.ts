import assert from "node:assert/strict";
import fc from "fast-check";
import { isTagName, isTagValue, parseTags, tagDocument } from "@/lib/s3/tags.ts";

const letter = fc.constantFrom(..."aZ09åλж木 +-=._:/@");
const name = fc.string({ unit: letter, minLength: 1, maxLength: 20 });

Deno.test("tags: the document that sets them is read back as the same tags, in their order", () => {
  const tags = fc.uniqueArray(fc.tuple(name, fc.string({ unit: letter, maxLength: 20 })), {
    selector: ([name]) => name,
  });
  fc.assert(fc.property(tags, (tags) => {
    assert.deepEqual(parseTags(tagDocument(tags).body), tags);
  }));
  assert.equal(
    tagDocument([["a", ""]]).body,
    '<?xml version="1.0" encoding="UTF-8"?><Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
      "<TagSet><Tag><Key>a</Key><Value></Value></Tag></TagSet></Tagging>",
  );
  assert.match(tagDocument([]).headers.get("content-md5") ?? "", /^[\w+/]{22}==$/);
});

Deno.test("tags: a response that is another document, or has a tag without a name, is rejected", () => {
  assert.deepEqual(parseTags("<Tagging><TagSet/></Tagging>"), []);
  assert.deepEqual(parseTags("<Tagging/>"), []);
  assert.deepEqual(parseTags("<Tagging><TagSet><Tag><Key>k</Key></Tag></TagSet></Tagging>"), [["k", ""]]);
  for (
    const xml of ["", "<TagSet/>", "<Tagging><TagSet><Tag><Value>v</Value></Tag></TagSet></Tagging>", "<Tagging>"]
  ) {
    assert.throws(() => parseTags(xml), { name: "MalformedXml" }, xml);
  }
});

Deno.test("tags: the names and values that S3 allows, counted in characters", () => {
  assert.ok(isTagName("𝔸".repeat(128)) && !isTagName("𝔸".repeat(129)));
  assert.ok(isTagValue("𝔸".repeat(256)) && !isTagValue("𝔸".repeat(257)));
  assert.ok(isTagValue("") && !isTagName(""));
  assert.ok(isTagName("awsome") && isTagValue("aws:x") && isTagName("x-aws:") && isTagName("__proto__"));
  for (let code = 0; code < 0x10000; code++) {
    const character = String.fromCharCode(code);
    const isAllowed = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]$/u.test(character);
    assert.equal(isTagValue(character), isAllowed, code.toString(16));
  }
  for (const text of ["aws:x", "AwS:x"]) assert.ok(!isTagName(text), text);
  for (const text of ["<", "a&b", "a\nb", "\0", "\ud800", "🙂", 'a"', "a,b", "a;"]) {
    assert.ok(!isTagName(text) && !isTagValue(text), JSON.stringify(text));
  }
});
