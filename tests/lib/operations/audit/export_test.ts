import assert from "node:assert/strict";
import { auditRecord } from "@/lib/operations/audit/audit_trail.ts";
import { exported } from "@/lib/operations/audit/chain_reader.ts";
import { event, NOON } from "./audit_fixture.ts";

Deno.test("audit export: a record is one line of visible characters, whatever a key holds", async () => {
  const key = "two\nlines \u2028\u2029\u202e\u0085\ufeff ÅÄÖ 😀";
  const changed = event({ target: { kind: "object", key }, details: { keys: [key] } });
  const { record } = auditRecord(changed, "00000000.1", NOON);
  const page = { records: [record], next: null, searchedToMs: null };
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
