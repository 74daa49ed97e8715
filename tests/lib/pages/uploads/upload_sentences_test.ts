import assert from "node:assert/strict";
import { faultSentence, UploadAnnouncer, type UploadCounts, uploadHead } from "@/lib/pages/uploads/upload_sentences.ts";

const NONE: UploadCounts = {
  all: 0,
  done: 0,
  skipped: 0,
  cancelled: 0,
  failed: 0,
  inUse: 0,
  looking: 0,
  state: "running",
};

Deno.test("upload head: files that arrived of all, and the others by what has become of them", () => {
  const head = (part: Partial<UploadCounts>) => uploadHead({ ...NONE, ...part });
  assert.equal(head({ all: 5, looking: 5 }), "Looking up 5 names");
  assert.equal(head({ all: 5, done: 1, looking: 1 }), "1 of 5 uploaded · 4 left");
  assert.equal(
    head({ all: 5, done: 3, skipped: 1, failed: 1, state: "ended" }),
    "3 of 5 uploaded · 1 skipped · 1 failed",
  );
  assert.equal(
    head({ all: 1200, done: 3, inUse: 2, state: "paused" }),
    "Paused · 3 of 1,200 uploaded · 2 names in use · 1,195 left",
  );
  assert.equal(head({ all: 2, state: "stopped" }), "Stopped · 0 of 2 uploaded · 2 left");
  assert.equal(head({ all: 2, done: 1, cancelled: 1, state: "ended" }), "1 of 2 uploaded · 1 cancelled");
  assert.equal(head({ all: 2, skipped: 2, state: "ended" }), "0 of 2 uploaded · 2 skipped");
  assert.equal(head({ all: 2, cancelled: 2, state: "ended" }), "Nothing was uploaded");
  assert.equal(head({ all: 5, done: 5, state: "running" }), "5 of 5 uploaded", "the journal still has them");
  assert.equal(head({ all: 5, done: 5, state: "ended" }), "5 files uploaded");
});

Deno.test("upload announcer: the start, quarters and failures ten seconds apart, the end", () => {
  const announcer = new UploadAnnouncer();
  const said = (now: number, percent: number, part: Partial<UploadCounts> = {}) =>
    announcer.next({ now: now * 1000, percent, counts: { ...NONE, all: 4, ...part } });
  assert.equal(said(0, 100, { all: 0, state: "ended" }), "");
  assert.equal(said(1, 0), "Uploading 4 files");
  assert.equal(said(2, 30), "");
  assert.equal(said(11, 31), "25 per cent uploaded");
  assert.equal(said(30, 49), "");
  assert.equal(said(31, 50, { done: 1, failed: 1 }), "1 of 4 uploaded · 1 failed · 2 left");
  assert.equal(said(32, 80, { done: 1, failed: 2 }), "");
  assert.equal(said(42, 80, { done: 1, failed: 2 }), "1 of 4 uploaded · 2 failed · 1 left");
  assert.equal(said(43, 99, { done: 2, failed: 2, state: "ended" }), "2 of 4 uploaded · 2 failed");
  assert.equal(said(99, 99, { done: 2, failed: 2, state: "ended" }), "");
  assert.equal(said(100, 40, { all: 5, done: 2, failed: 2 }), "Uploading 1 file", "not what was sent before");
  assert.equal(said(101, 100, { all: 5, done: 3, failed: 2, state: "ended" }), "3 of 5 uploaded · 2 failed");
  assert.equal(said(102, 100, { all: 2, failed: 2, state: "ended" }), "", "what has arrived is taken off the list");
  assert.equal(said(103, 100, { all: 3, done: 1, failed: 2, state: "ended" }), "1 of 3 uploaded · 2 failed");
});

Deno.test("upload sentences: what the store said stands in the sentence as one", () => {
  assert.equal(
    faultSentence({ kind: "refused", detail: "The key is odd" }),
    "The store rejected this file. The key is odd.",
  );
  assert.equal(
    faultSentence({ kind: "busy", detail: "Slow down. " }),
    "The upload failed after several attempts. Slow down. Try again later.",
  );
  assert.equal(faultSentence({ kind: "refused", detail: null }), "The store rejected this file.");
  assert.match(faultSentence({ kind: "lost" }, "2.3 MB"), /lost after 2\.3 MB/);
});
