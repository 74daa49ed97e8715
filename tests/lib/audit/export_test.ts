import assert from "node:assert/strict";
import { exported } from "@/lib/audit/export.ts";

Deno.test("audit export: a record is one line of visible characters, whatever a key holds", async () => {
  const key = "two\nlines \u2028\u2029\u202e\u0085\ufeff ÅÄÖ 😀";
  const record = {
    id: "00000000.1",
    time: "2026-11-20T12:00:00.000Z",
    target: { kind: "object", key },
    details: { keys: [key] },
  };
  const page = {
    records: [{ record, atMs: Date.parse(record.time), position: "" }],
    next: null,
    searchedToMs: -Infinity,
  };
  for (const format of ["ndjson", "csv"] as const) {
    const chunks = await Array.fromAsync(exported(format, () => Promise.resolve(page), 10));
    const text = chunks.join("");
    if (format === "ndjson") {
      assert.match(text, /^[^\n\u0085\u2028-\u202e\ufeff]*\n$/);
      assert.match(text, /ÅÄÖ 😀/);
      assert.deepEqual(JSON.parse(text), record);
    } else {
      const [, line, ...rest] = text.split("\r\n");
      assert.deepEqual(rest, [""]);
      assert.match(line, /,two\\u000alines \\u2028\\u2029\\u202e\\u0085\\ufeff ÅÄÖ 😀,/);
      assert.doesNotMatch(line, /[\n\u0085\u2028-\u202e\ufeff]/);
    }
  }
});
