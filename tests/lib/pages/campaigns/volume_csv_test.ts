import assert from "node:assert/strict";

import { csvName, volumesCsv } from "@/lib/pages/campaigns/volume_filter.ts";
import { volume } from "@/tests/site/fake_campaigns.ts";

/** Reads RFC 4180 the way a spreadsheet does. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows[rows.length - 1].push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") rows.push([]);
  }
  return rows.slice(0, -1);
}

const failed = (id: string, error: string) =>
  volume({ index: 3, id, state: "failed", reason: { stage: "stream", permanent: true, error } });

Deno.test("volume csv: UTF-8 with a byte order mark, one row a volume, what was reported beside our sentence", () => {
  const text = volumesCsv([failed("SE-GÖTEBORG-1", 'a "b", c\nd')]);
  assert.ok(text.startsWith("\ufeffvolume,index,state,"));
  const [head, row] = readCsv(text.slice(1));
  const cell = (name: string) => row[head.indexOf(name)];
  assert.equal(row.length, head.length);
  assert.equal(cell("volume"), "SE-GÖTEBORG-1");
  assert.equal(cell("index"), "3");
  assert.equal(cell("reported"), 'a "b", c\nd');
  assert.match(cell("what is known"), /^It failed while processing pages/);
  assert.match(cell("run log"), /^http/);
});

Deno.test("volume csv: what is known has no age, which would be wrong when the file is read", () => {
  const done = volume({ index: 0, id: "done" });
  const lost = { ...done, progress: done.progress && { ...done.progress, lastError: { page: "0009", error: "dark" } } };
  const active = volume({ index: 1, id: "active", state: "active" });
  const running = { ...active, progress: active.progress && { ...active.progress, stage: "stream" } };
  const [head, ...rows] = readCsv(volumesCsv([done, lost, running]).slice(1));
  const column = (name: string) => rows.map((row) => row[head.indexOf(name)]);
  assert.deepEqual(column("what is known"), ["", "Page 0009 could not be read: dark", "Processing pages"]);
  assert.deepEqual(column("updated at"), Array(3).fill("2026-11-21T12:00:00Z"));
});

Deno.test("volume csv: nothing in it is run as a formula", () => {
  for (const text of ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\u00a0=1", "＝1", "\r=1", "\u0000=1"]) {
    const [, row] = readCsv(volumesCsv([failed("v", text)]).slice(1));
    assert.ok(row.includes(`'${text}`), JSON.stringify(text));
  }
});

Deno.test("volume csv: a file's name has no separators of paths", () => {
  assert.equal(csvName("göteborg/../a b", "failed"), "göteborg-..-a-b-failed.csv");
});
