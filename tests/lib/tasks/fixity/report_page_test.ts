import assert from "node:assert/strict";
import fc from "fast-check";

import { FIXITY_RESULTS } from "@/lib/pages/storage/fixity_check.ts";
import { readRowPage } from "@/lib/tasks/fixity/report_page.ts";
import { jsonReport, type ReportRow } from "@/lib/tasks/fixity/report.ts";
import { newFixity } from "@/lib/tasks/fixity/fixity.ts";
import { reportHead } from "@/lib/tasks/fixity/responses.ts";
import { REQUEST } from "./fixity_run.ts";

/** The report that the gateway writes of rows, cut into chunks of a length. */
async function report(
  rows: readonly ReportRow[],
  chunkBytes: number,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const progress = newFixity({ request: REQUEST, comparison: null, baseline: null, startedAt: 0 });
  let text = "";
  const task = { id: "1", bucket: "b", state: "ready", error: null } as const;
  async function* chunk() {
    yield rows;
  }
  for await (const part of jsonReport(reportHead(task, progress), chunk())) text += part;
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.slice(at, at + chunkBytes));
      controller.close();
    },
  });
}

Deno.test("fixity rows: pages of any filter hold each row of it once, whatever the keys and however the report arrives", async () => {
  const row = fc.record({
    key: fc.oneof(fc.string(), fc.constantFrom('","result":"changed"', "a\nb", '{"key"', "é\u202E")),
    result: fc.constantFrom("changed", "unreadable", "unproven", "deleted", "intact"),
  }) as fc.Arbitrary<ReportRow>;
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 350 }),
      fc.constantFrom(null, ...FIXITY_RESULTS.map((result) => [result])),
      fc.integer({ min: 7, max: 5000 }),
      async (rows, results, chunkBytes) => {
        const found: string[] = [];
        let from: number | null = 0;
        while (from !== null) {
          const page: Awaited<ReturnType<typeof readRowPage>> = await readRowPage(
            await report(rows, chunkBytes),
            results,
            from,
          );
          assert.ok(page.rows.length <= 100);
          found.push(...page.rows.map(({ key, result }) => `${result} ${key}`));
          from = page.next;
        }
        const expected = rows.filter(({ result }) => results === null || results.includes(result));
        assert.deepEqual(found, expected.map(({ key, result }) => `${result} ${key}`));
      },
    ),
    { numRuns: 60 },
  );
});
