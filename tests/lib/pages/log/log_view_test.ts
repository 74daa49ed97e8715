import assert from "node:assert/strict";

import { signal } from "@preact/signals";

import { LogView } from "@/lib/pages/log/log_view_client.ts";
import type { RunLog } from "@/lib/pages/log/run_log.ts";
import { parseRunLog } from "./parsed_log.ts";

const at = (second: number, text: string) => `2026-11-21 08:15:${String(second).padStart(2, "0")},000 ${text}`;
const REQUEST = 'INFO HTTP Request: GET https://a.example/ "HTTP/1.1 200 OK"';
const LINES = [
  at(1, "INFO [v] 2 pages in manifest"),
  at(2, "INFO resume: 0 done, 2 to process"),
  at(3, "INFO running inference on 2 pages"),
  at(4, REQUEST),
  at(5, "WARNING page 0001 is slow"),
  at(6, "INFO verify: fine"),
];

function viewOf(lines: readonly string[]) {
  const log = signal<RunLog | null>(parseRunLog(lines.join("\n")));
  return { log, view: new LogView(log) };
}

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
  const { log, view } = viewOf(LINES.slice(0, 4));
  view.setOpen(view.stages.value[1].key, true);
  log.value = parseRunLog(LINES.join("\n"));
  const open = view.stages.value.filter((shown) => view.isOpen(shown, true));
  assert.deepEqual(open.map(({ stage }) => stage.name), ["resume", "stream"]);
});
