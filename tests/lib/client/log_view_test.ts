import assert from "node:assert/strict";

import { signal } from "@preact/signals";

import { LogView } from "@/lib/client/log_view.ts";
import type { RunLog } from "@/lib/presentation/run_log/run_log.ts";
import { parseRunLog } from "@/tests/lib/presentation/run_log/parsed_log.ts";

const at = (second: number, text: string) => `2026-11-21 08:15:${String(second).padStart(2, "0")},000 ${text}`;
const REQUEST = 'INFO HTTP Request: GET https://a.example/ "HTTP/1.1 200 OK"';
const LINES = [
  at(1, "INFO [v] 2 pages in manifest"),
  at(2, "INFO resume: 0 done, 2 to process"),
  at(3, "INFO running inference on 2 pages"),
  at(4, REQUEST),
  at(5, REQUEST),
  at(6, REQUEST),
  at(7, "WARNING page 0001 is slow"),
  at(8, "INFO verify: fine"),
];

function viewOf(lines: readonly string[]) {
  const log = signal<RunLog | null>(parseRunLog(lines.join("\n")));
  return { log, view: new LogView(log) };
}

const openOf = (view: LogView, isOver: boolean) =>
  view.stages.value.filter((shown) => view.isOpen(shown, isOver)).map(({ stage }) => stage.name);

Deno.test("log view: stages that are over and clean are folded, until the reader unfolds them", () => {
  const { view } = viewOf(LINES);
  assert.deepEqual(openOf(view, false), ["stream", "verify"]);
  assert.deepEqual(openOf(view, true), ["stream"]);
  view.setOpen(view.stages.value[0].key, true);
  assert.deepEqual(openOf(view, true), ["setup", "stream"]);
  view.setAllOpen(false);
  assert.deepEqual(openOf(view, true), []);
});

Deno.test("log view: a hit unfolds requests only where it is among them, not where it is the line that they are folded into", () => {
  const { view } = viewOf([at(1, REQUEST), at(2, "INFO page 0001 read"), at(3, REQUEST), at(4, "INFO page 0002 read")]);
  view.setQuery("0001");
  view.goToHit(1);
  assert.deepEqual([view.hit.value, [...view.openFolds.value]], [2, []]);
  view.setQuery("http");
  view.goToHit(-1);
  assert.deepEqual([view.hit.value, [...view.openFolds.value]], [3, [3]]);
});

Deno.test("log view: a stage stays as the reader left it while the log grows", () => {
  const { log, view } = viewOf(LINES.slice(0, 6));
  view.setOpen(view.stages.value[1].key, true);
  log.value = parseRunLog(LINES.join("\n"));
  assert.deepEqual(openOf(view, true), ["resume", "stream"]);
});

Deno.test("log view: hits are gone to in order and around, and their stage and requests unfold", () => {
  const { view } = viewOf(LINES);
  view.setQuery("http");
  assert.deepEqual(view.search.value?.lines, [4, 5, 6]);
  view.goToHit(-1);
  assert.equal(view.hit.value, 6);
  view.goToHit(1);
  assert.deepEqual([view.hit.value, view.goal.value?.number], [4, 4]);
  assert.deepEqual([...view.openFolds.value], [4]);
  view.setQuery("manifest");
  assert.equal(view.hit.value, null);
  view.goToHit(1);
  assert.ok(openOf(view, true).includes("setup"));
  view.setQuery("none");
  view.goToHit(1);
  assert.equal(view.hit.value, null);
});

Deno.test("log view: a link shows its line whatever the filter", () => {
  const { view } = viewOf(LINES);
  view.setFilter("warning");
  assert.deepEqual(view.stages.value.map(({ stage }) => stage.name), ["stream"]);
  assert.equal(view.goToLink({ number: 99, time: null }), false);
  assert.equal(view.filter.value, "warning");
  assert.equal(view.goToLink({ number: 1, time: null }), true);
  assert.deepEqual([view.filter.value, view.marked.value], ["all", 1]);
  assert.ok(openOf(view, true).includes("setup"));
});
