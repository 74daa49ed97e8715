import assert from "node:assert/strict";
import { CACHED_ROWS, joinedJson, STALLED_AFTER_MS, VolumeRows } from "@/lib/campaigns/projection/volume_rows.ts";
import type { ProgressAnswer, Reason, RunState } from "@/lib/campaigns/projection/types.ts";
import { volumeLinks } from "@/lib/campaigns/projection/urls.ts";
import type { VolumeStates } from "@/lib/campaigns/projection/volume_states.ts";
import type { VolumeList } from "@/lib/campaigns/projection/volumes.ts";
import { progress } from "./cluster_fixtures.ts";

const NOW = Date.UTC(2025, 10, 20, 12);

/** Rows of so many volumes, and how often a line of volumes.txt was cut for them. */
function scene(
  count: number,
  state: RunState = "done",
  attemptAt: number | null = null,
  reason: Reason | null = null,
  more: Partial<VolumeStates> = {},
) {
  const cut = { lines: 0 };
  const id = (index: number) => `v${index}`;
  const volumes: VolumeList = {
    count,
    size: 0,
    id,
    line(index) {
      cut.lines++;
      return { id: id(index), source: `https://x/${index}` };
    },
  };
  const states: VolumeStates = {
    states: Array.from({ length: count }, () => state),
    isFinal: false,
    reason: () => reason,
    containerWaiting: () => null,
    attemptAt: () => attemptAt,
    stoppedAt: () => null,
    ...more,
  };
  return { cut, rows: new VolumeRows(volumes, states, volumeLinks("https://r", "n", "p")) };
}

function answer(updatedAt: string | null, done = 1): ProgressAnswer {
  return { answered: true, forbidden: false, progress: progress({ updatedAt, done }) };
}

/** A row as JSON, as a response writes it. */
function text(...[rows, index, read, now]: [VolumeRows, number, ProgressAnswer | undefined, number]): string {
  return new TextDecoder().decode(joinedJson([rows.json(index, read, now)]));
}

Deno.test("volume rows: a row has its progress, aged, or says that it may not be read", () => {
  const { rows } = scene(3);
  assert.equal(rows.view(1, answer("2025-11-20T11:59:50Z"), NOW).progress?.ageSeconds, 10);
  assert.equal(rows.view(1, answer(null), NOW).progress?.ageSeconds, null);
  assert.equal(rows.view(1, undefined, NOW).progress, null);
  const refused = rows.view(1, { answered: true, forbidden: true, progress: null }, NOW);
  assert.deepEqual([refused.forbidden, refused.progress, refused.id], [true, null, "v1"]);
  assert.equal(rows.view(1, undefined, NOW).forbidden, false);
});

Deno.test("volume rows: the JSON of a row is that of its view whatever was shown before, and is made once for one file", () => {
  const { rows, cut } = scene(1, "active");
  const early = answer("2025-11-20T11:59:50Z");
  const hostile = progress({ lastPage: '"ageSeconds":1}', stage: "ageSeconds", updatedAt: "2025-11-20T11:00:00Z" });
  const files: (ProgressAnswer | undefined)[] = [
    early,
    answer("2025-11-20T11:59:58Z", 7),
    answer(null),
    answer("no time"),
    undefined,
    { answered: true, forbidden: true, progress: null },
    { answered: true, forbidden: false, progress: hostile },
    { answered: true, forbidden: false, progress: progress({ lastPage: "sidan är tom \ud800 \u{1f4dc}" }) },
  ];
  const ages = [0, 5_000, STALLED_AFTER_MS + 1, 3 * STALLED_AFTER_MS, -60_000];
  for (const file of [...files, ...files.toReversed()]) {
    for (const age of ages) assert.equal(text(rows, 0, file, NOW + age), JSON.stringify(rows.view(0, file, NOW + age)));
  }
  text(rows, 0, early, NOW);
  cut.lines = 0;
  assert.match(text(rows, 0, early, NOW + 3_000), /"ageSeconds":13\}/);
  assert.equal(cut.lines, 0);
});

Deno.test("volume rows: a reason and what a container waits for are part of the view and of the JSON", () => {
  const reason = { stage: null, permanent: true, error: "åtkomst nekad" };
  const containerWaiting = { reason: "ImagePullBackOff", message: 'Back-off "x" <b>\ud800' };
  const { rows } = scene(1, "active", null, reason, { containerWaiting: () => containerWaiting });
  const view = rows.view(0, undefined, NOW);
  assert.deepEqual([view.reason, view.containerWaiting], [reason, containerWaiting]);
  assert.equal(text(rows, 0, undefined, NOW), JSON.stringify(view));
});

Deno.test("volume rows: a volume without a result of an ended Job is pending, final and has its progress", () => {
  const { rows } = scene(1, "unfinished", null, null, { isFinal: true });
  const read = answer("2025-11-20T11:59:50Z", 7);
  const { state, final, progress } = rows.view(0, read, NOW);
  assert.deepEqual([state, final, progress?.done], ["pending", true, 7]);
  assert.deepEqual(JSON.parse(text(rows, 0, read, NOW)), rows.view(0, read, NOW));
});

Deno.test("volume rows: only pending and active volumes of a Job that starts no pods are final", () => {
  const finalOf = (state: RunState, isFinal: boolean) =>
    scene(1, state, null, null, { isFinal }).rows.view(0, undefined, NOW).final;
  assert.deepEqual([finalOf("pending", true), finalOf("active", true)], [true, true]);
  for (const state of ["done", "failed", "unknown"] as const) assert.equal(finalOf(state, true), undefined);
  assert.equal(finalOf("active", false), undefined);
});

Deno.test("volume rows: a pending volume has no progress even if a file was read", () => {
  const { rows } = scene(1, "pending");
  const row = rows.view(0, answer("2025-11-20T11:59:50Z"), NOW);
  assert.deepEqual([row.progress, row.forbidden], [null, false]);
});

Deno.test("volume rows: an active volume stalls ten minutes after its last progress, any other does not", () => {
  const updatedAt = "2025-11-20T11:00:00";
  const since = Date.parse(`${updatedAt}Z`);
  const { rows } = scene(1, "active");
  assert.equal(rows.view(0, answer(updatedAt), since + STALLED_AFTER_MS).stalledSince, null);
  assert.equal(rows.view(0, answer(updatedAt), since + STALLED_AFTER_MS + 1).stalledSince, "2025-11-20T11:00:00Z");
  assert.equal(rows.view(0, answer(null), since + STALLED_AFTER_MS + 1).stalledSince, null);
  assert.equal(rows.view(0, undefined, since + STALLED_AFTER_MS + 1).stalledSince, null);
  for (const state of ["pending", "done", "failed", "unknown"] as const) {
    assert.equal(scene(1, state).rows.view(0, answer(updatedAt), since + STALLED_AFTER_MS + 1).stalledSince, null);
  }
});

Deno.test("volume rows: a file from before the newest attempt does not stall its volume", () => {
  const updatedAt = "2025-11-20T11:00:00Z";
  const since = Date.parse(updatedAt);
  const stalledSince = (attemptAt: number | null) =>
    scene(1, "active", attemptAt).rows.view(0, answer(updatedAt), since + 2 * STALLED_AFTER_MS).stalledSince;
  assert.equal(stalledSince(since + 1), null);
  assert.equal(stalledSince(since), updatedAt);
  assert.equal(stalledSince(null), updatedAt);
});

Deno.test("volume rows: caches no more than CACHED_ROWS rows when all pages are read", () => {
  const count = CACHED_ROWS * 3;
  const { rows, cut } = scene(count);
  for (let index = 0; index < count; index++) {
    assert.equal(JSON.parse(text(rows, index, undefined, NOW)).id, `v${index}`);
  }
  for (let index = count - CACHED_ROWS; index < count; index++) rows.json(index, undefined, NOW);
  assert.equal(cut.lines, count);
  assert.equal(JSON.parse(text(rows, 0, undefined, NOW)).manifestUrl, "https://r/n/p/v0/manifest.json");
  assert.equal(cut.lines, count + 1);
});
