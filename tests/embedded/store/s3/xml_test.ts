import assert from "node:assert/strict";
import fc from "fast-check";
import { xmlTime } from "@/embedded/store/s3/xml.ts";

Deno.test("S3 XML: a time is the runtime's own text of its second", () => {
  fc.assert(fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
    assert.equal(xmlTime(ms), new Date(Math.floor(ms / 1000) * 1000).toISOString());
  }));
  for (const ms of [0, -1, 999, 1000, 59_999, 60_000, 3_599_999, 86_399_999, 86_400_000, 1_795_410_948_392]) {
    assert.equal(xmlTime(ms), new Date(Math.floor(ms / 1000) * 1000).toISOString());
  }
});
