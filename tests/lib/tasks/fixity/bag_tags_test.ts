import assert from "node:assert/strict";
import {
  BAG_DECLARATION,
  bagInfo,
  escapesPercent,
  parseBagDeclaration,
  parsePayloadOxum,
} from "@/lib/tasks/fixity/bag_tags.ts";

Deno.test("bagit.txt: declares a version and an encoding, and says whether percent signs are escaped", () => {
  assert.deepEqual(parseBagDeclaration(BAG_DECLARATION), { version: "1.0", encoding: "UTF-8" });
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
});
