import assert from "node:assert/strict";
import {
  bagDeclaration,
  bagInfo,
  escapesPercent,
  isFitDeclaration,
  parseBagDeclaration,
  parsePayloadOxum,
  withPayloadOxum,
} from "@/lib/tasks/fixity/bag_tags.ts";

Deno.test("bagit.txt: declares a version and an encoding, and says whether percent signs are escaped", () => {
  assert.deepEqual(parseBagDeclaration(bagDeclaration({ hasPercent: false, hasEscape: false })), {
    version: "1.0",
    encoding: "UTF-8",
  });
  const old = parseBagDeclaration("BagIt-Version: 0.97\r\nTag-File-Character-Encoding: ISO-8859-1\r\n");
  assert.deepEqual(old, { version: "0.97", encoding: "ISO-8859-1" });
  assert.equal(old && escapesPercent(old), false);
  assert.equal(escapesPercent({ version: "1.0", encoding: "UTF-8" }), true);
  for (const text of ["", "BagIt-Version: 1.0", "BagIt-Version: one\nTag-File-Character-Encoding: UTF-8"]) {
    assert.equal(parseBagDeclaration(text), null);
  }
});

Deno.test("bag-info.txt: says the bytes and files of the payload", () => {
  assert.deepEqual(parsePayloadOxum(bagInfo({ bytes: 279164, files: 3 }, 0)), { bytes: 279164, files: 3 });
  assert.deepEqual(parsePayloadOxum("Source: x\r\npayload-oxum : 5.1\r\n"), { bytes: 5, files: 1 });
  assert.equal(parsePayloadOxum("Source-Organization: x\n"), null);
  assert.equal(parsePayloadOxum("Payload-Oxum: 5\n"), "invalid");
  assert.equal(parsePayloadOxum("Payload-Oxum: 5.1\nPayload-Oxum: 6.1\n"), "invalid");
  assert.deepEqual(parsePayloadOxum("Payload-Oxum: 9007199254740991.1"), { bytes: Number.MAX_SAFE_INTEGER, files: 1 });
  assert.equal(parsePayloadOxum("Payload-Oxum: 9007199254740993.1"), "invalid");
  assert.equal(parsePayloadOxum("Payload-Oxum: 1.9999999999999999"), "invalid");
});

Deno.test("bag tags: another Payload-Oxum replaces all others with the lines that belong to them, and nothing else", () => {
  const oxum = { bytes: 3, files: 1 };
  for (
    const [before, after] of [
      ["", "Payload-Oxum: 3.1\n"],
      ["A: b", "A: b\nPayload-Oxum: 3.1\n"],
      ["payload-oxum: 1.1\r\nA: b\r\n  c\r\n", "A: b\r\n  c\r\nPayload-Oxum: 3.1\n"],
      ["A: b\rPayload-Oxum:\r\t1.1\rPayload-Oxum: 2.2\rC: d\r", "A: b\rC: d\rPayload-Oxum: 3.1\n"],
    ]
  ) {
    assert.equal(withPayloadOxum(before, oxum), after);
    assert.deepEqual(parsePayloadOxum(withPayloadOxum(before, oxum)), oxum);
  }
});

Deno.test("bag tags: a declaration fits a manifest in UTF-8, and names with escapes since version 1.0", () => {
  const fits = (version: string, encoding: string, hasEscape: boolean) =>
    isFitDeclaration({ version, encoding }, { hasPercent: true, hasEscape });
  assert.deepEqual([fits("0.97", "utf-8", false), fits("1.0", "UTF-8", true)], [true, true]);
  assert.deepEqual([fits("0.97", "UTF-8", true), fits("1.0", "ISO-8859-1", false)], [false, false]);
});
