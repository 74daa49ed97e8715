import assert from "node:assert/strict";

import { renderToString } from "preact-render-to-string";

import { VolumeRow } from "@/components/campaigns/volume_table.tsx";
import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import { SAMPLE_NOW, summary, volume } from "@/tests/site/fake_campaigns.ts";

function rowOf(change: Partial<VolumeView>): string {
  const row = volume({ index: 0, id: "v", ...change });
  return renderToString(
    <VolumeRow volume={row} campaign={summary({ name: "a" })} row={2} hasQuality={false} now={SAMPLE_NOW} />,
  );
}

Deno.test("volume row: a name that opens nothing says why, except of a volume that the account may not read", () => {
  const pending = { state: "pending", sourceUrl: null, progress: null } as const;
  assert.match(rowOf(pending), /<span class="vid" title="Its pages cannot be opened yet: no manifest names them\.">v</);
  assert.match(rowOf({ ...pending, forbidden: true }), /<span class="vid">v</);
});

Deno.test("volume row: what the cluster reported follows the sentence, for readers without a pointer", () => {
  const reason = { stage: null, permanent: null, error: "Evicted" };
  assert.match(rowOf({ state: "failed", reason }), /\.<span class="raw-words"> \(Evicted\)<\/span>/);
  assert.doesNotMatch(rowOf({}), /raw-words/);
});

Deno.test("volume row: of a source that a browser cannot open nothing is said but that", () => {
  assert.match(rowOf({ sourceUrl: null }), /title="v has no source manifest that a browser can open"/);
});

Deno.test("volume row: its log is live while the volume is not done, and may be missing before it starts", () => {
  const isLive = (state: VolumeView["state"]) => /href="\/log\?[^"]*live=1/.test(rowOf({ state }));
  assert.deepEqual((["pending", "active", "failed"] as const).map(isLive), [true, true, true]);
  assert.deepEqual((["done", "unknown"] as const).map(isLive), [false, false]);
  assert.match(rowOf({ state: "pending" }), /title="Run log of v, none before it starts"/);
  assert.doesNotMatch(rowOf({ state: "pending", final: true }), /none before it starts/);
});
