import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { withEmbeddedObjects } from "./embedded_objects.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

const KEYS = ["a", "a b", "a&+%", "b/1", "b/2", "c/x/y", "d", "nul\0", "new\nline", "å", "\uffff", "😀/1"];

Deno.test(
  "listings of the embedded store: start_after is any text, compared by its bytes in UTF-8",
  leaks,
  async () => {
    await withEmbeddedObjects(async ({ call, json }) => {
      await json("POST", "/buckets", { bucket: "starts" });
      for (const key of KEYS) {
        const response = await call("PUT", `/buckets/starts/objects/${encodeURIComponent(key)}`, "x");
        assert.equal(response.status, 200, await response.text());
      }
      const ordered = KEYS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const list = async (query: Record<string, string>) => {
        const page = await json("GET", `/buckets/starts/objects?${new URLSearchParams(query)}`);
        assert.ok(Array.isArray(page.objects) && Array.isArray(page.common_prefixes));
        const keys: string[] = page.objects.map(({ Key }) => Key);
        return { keys, prefixes: page.common_prefixes, token: page.next_continuation_token };
      };
      for (const start_after of [...KEYS, "", "a/", "aa", "b/", "c", "zz", "\u{10ffff}"]) {
        const after = ordered.filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(start_after)) > 0);
        assert.deepEqual((await list({ start_after })).keys, after, JSON.stringify(start_after));
        assert.deepEqual((await list({ start_after, prefix: "b/" })).keys, after.filter((key) => key.startsWith("b/")));
      }
      const grouped = await list({ start_after: "a&+%", delimiter: "/" });
      assert.deepEqual(grouped.prefixes, ["b/", "c/", "😀/"]);
      assert.deepEqual(grouped.keys, ["d", "new\nline", "nul\0", "å", "\uffff"]);
      assert.deepEqual((await list({ start_after: "d", delimiter: "/" })).prefixes, ["😀/"]);

      const first = await list({ start_after: "b/1", max_keys: "1" });
      assert.deepEqual(first.keys, ["b/2"]);
      const second = await list({ start_after: "zz", max_keys: "1", continuation_token: String(first.token) });
      assert.deepEqual(second.keys, ["c/x/y"]);
    });
  },
);
