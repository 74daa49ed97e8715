import assert from "node:assert/strict";
import { bagVersion, parsePayloadOxum } from "@/lib/tasks/fixity/find_manifests.ts";

Deno.test("bagit.txt: declares a version and an encoding", () => {
  const encoding = (name: string) => `Tag-File-Character-Encoding: ${name}`;
  const versions: [string | null, number | null][] = [
    [`BagIt-Version: 1.0\n${encoding("UTF-8")}\n`, 1],
    [`\ufeffBagIt-Version: 0.97\r\n${encoding("ISO-8859-1")}\r\n`, 0],
    ["", null],
    ["BagIt-Version: 1.0", null],
    [`BagIt-Version: one\n${encoding("UTF-8")}`, null],
    [null, null],
  ];
  for (const [text, version] of versions) assert.equal(bagVersion(text), version, String(text));
});

Deno.test("bag-info.txt: says the bytes and files of the payload", () => {
  const cases: [string | null, ReturnType<typeof parsePayloadOxum>][] = [
    ["Bagging-Date: 2026-01-01\nPayload-Oxum: 279164.3\n", { bytes: 279164, files: 3 }],
    ["Source: x\r\npayload-oxum : 5.1\r\n", { bytes: 5, files: 1 }],
    ["Payload-Oxum: 9007199254740991.1", { bytes: Number.MAX_SAFE_INTEGER, files: 1 }],
    ["Source-Organization: x\n", null],
    ["Payload-Oxum: 5\n", "invalid"],
    ["Payload-Oxum: 5.1\nPayload-Oxum: 6.1\n", "invalid"],
    ["Payload-Oxum: 9007199254740993.1", "invalid"],
    ["Payload-Oxum: 1.9999999999999999", "invalid"],
    [null, "invalid"],
  ];
  for (const [text, oxum] of cases) assert.deepEqual(parsePayloadOxum(text), oxum, String(text));
});
