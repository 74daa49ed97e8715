import assert from "node:assert/strict";
import { type AuditSource, mergedPage, type SourcePage } from "@/lib/audit/trail_page.ts";

/** A source of records with these times, the newest first, whose positions are their indexes. */
function source(name: string, times: readonly number[]): AuditSource {
  return {
    page(_, position, count): Promise<SourcePage> {
      const from = position === null ? 0 : Number(position) + 1;
      const records = times.slice(from, from + count).map((atMs, i) => ({
        record: { id: `${name}${from + i}`, time: new Date(atMs).toISOString() },
        atMs,
        position: String(from + i),
      }));
      const isRest = from + count >= times.length;
      const next = isRest ? null : String(from + count - 1);
      return Promise.resolve({
        records,
        next,
        searchedToMs: isRest ? -Infinity : Math.min(...times.slice(0, from + count)),
      });
    },
  };
}

Deno.test("merged page: every record comes once, also behind one whose clock was set back", async () => {
  const sources = { application: source("a", [1000, 1050, 900]), store: source("s", [1040, 950]) };
  for (const count of [1, 2, 3, 10]) {
    const ids: string[] = [];
    for (let next: Readonly<Record<string, string>> | null = null;;) {
      const page = await mergedPage(sources, {}, next, count);
      ids.push(...page.records.map(({ id }) => id));
      next = page.next;
      if (next === null) break;
    }
    assert.deepEqual(ids.filter((id) => id.startsWith("a")), ["a0", "a1", "a2"], `${count} at a time`);
    assert.deepEqual(ids.toSorted(), ["a0", "a1", "a2", "s0", "s1"], `${count} at a time`);
  }
});
