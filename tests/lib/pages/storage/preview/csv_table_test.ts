import assert from "node:assert/strict";
import fc from "fast-check";

import { readCsvTable } from "@/lib/pages/storage/preview/csv_table.ts";

Deno.test("CSV: the delimiter is found, quoted cells hold it, quotes and line ends", () => {
  assert.deepEqual(readCsvTable('a;b;c\n1;"x;""y""\nz";3,5\n', false), {
    rows: [["a", "b", "c"], ["1", 'x;"y"\nz', "3,5"]],
    columns: 3,
    delimiter: ";",
    isCut: false,
  });
  assert.equal(readCsvTable("a\tb\n1\t2", false)?.delimiter, "\t");
  assert.equal(readCsvTable("a|b\n1|2", false)?.delimiter, "|");
  assert.deepEqual(readCsvTable("a,b\n\n1,\n", false)?.rows, [["a", "b"], ["1", ""]]);
  assert.deepEqual(readCsvTable("a,b\n1,", false)?.rows, [["a", "b"], ["1", ""]]);
});

Deno.test("CSV: a text without a second column is no table", () => {
  for (const text of ["", "a", "a\nb\nc", "\n\n"]) assert.equal(readCsvTable(text, false), null);
});

Deno.test("CSV: the incomplete last row of a cut text is left out", () => {
  assert.deepEqual(readCsvTable("a,b\n1,2\n3,", true)?.rows, [["a", "b"], ["1", "2"]]);
  assert.equal(readCsvTable("a,b\n1,2\n3,", true)?.isCut, true);
});

Deno.test("CSV: rows, columns, cells and their lengths are bounded", () => {
  const many = readCsvTable("a,b\n".repeat(5000), false)!;
  assert.deepEqual([many.rows.length, many.isCut], [1000, true]);
  const wide = readCsvTable(`${"x,".repeat(130_000)}\n`.repeat(2), false)!;
  assert.deepEqual([wide.columns, wide.rows[0].length, wide.isCut], [100, 100, true]);
  const cells = readCsvTable(`${"x,".repeat(99)}x\n`.repeat(1000), false)!;
  assert.deepEqual([cells.rows.length, cells.isCut], [200, true]);
  assert.equal(readCsvTable(`"${"y".repeat(200_000)},1`, false), null);
  assert.ok((readCsvTable(`1,"${"y".repeat(200_000)}`, false)?.rows[0][1].length ?? 0) <= 501);
});

Deno.test("CSV: what is written by the rules is read as it was", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", "1", ",", '"', "\n", " ", "å") });
  const rows = fc.integer({ min: 2, max: 5 }).chain((columns) =>
    fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 })
  );
  fc.assert(fc.property(rows, (rows) => {
    const text = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(",")).join("\n");
    assert.deepEqual(readCsvTable(text, false)?.rows, rows);
  }));
});
