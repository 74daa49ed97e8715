import assert from "node:assert/strict";

import { renderToString } from "preact-render-to-string";

import { LiveCard, loadOpenZones, openZones } from "@/components/campaigns/live_card.tsx";
import { CardStore } from "@/lib/pages/campaigns/card_store_client.ts";
import { ReadQueue } from "@/lib/pages/browser/read_queue_client.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";
import { sampleDetail, summary } from "@/tests/site/fake_campaigns.ts";

const NOW = Date.parse("2026-11-21T12:30:00Z");
const job = summary({ name: "a", phase: "PartiallyFailed", counts: { total: 40, active: 0, done: 20, failed: 20 } });

function cardStore(): CardStore {
  return new CardStore(job, {
    api: {
      list: () => Promise.reject(new Error("a card reads no list")),
      detail: (_campaign, { offset, limit }) =>
        Promise.resolve({ kind: "ok", value: sampleDetail(job, offset, Math.min(limit, 40 - offset)) }),
    },
    queue: new ReadQueue(4),
    clock: new HeldClock(),
    onLogin: () => {},
  });
}

/** The code of the zones, as it is there once a card was open. */
async function zones(): Promise<void> {
  const isLoaded = Promise.withResolvers<void>();
  const end = openZones.subscribe((loaded) => loaded !== null && isLoaded.resolve());
  loadOpenZones();
  await isLoaded.promise;
  end();
  assert.notEqual(openZones.value, "failed");
}

/** The card as it is painted first when it comes into the list. */
function firstPaint(card: CardStore): string {
  return renderToString(
    <LiveCard
      card={card}
      name="batch-default/a"
      position={1}
      total={1}
      style={{ zone: "UTC", now: NOW }}
      spansNamespaces={false}
      onHeight={() => () => {}}
    />,
  );
}

Deno.test("live card: an open one whose volumes are there comes back into the list open", async () => {
  await zones();
  const card = cardStore();
  assert.match(firstPaint(card), /class="fold"[^>]*aria-expanded="false"/);
  card.setOpen(true);
  assert.match(firstPaint(card), /class="fold"[^>]*aria-expanded="false"/, "it has no volumes yet");
  await settled();
  assert.match(firstPaint(card), /class="fold"[^>]*aria-expanded="true"/);
  card.stop();
});

Deno.test("live card: what was folded out of it is there when it comes back into the list", async () => {
  await zones();
  const card = cardStore();
  card.setOpen(true);
  await settled();
  assert.match(firstPaint(card), /<pre [^>]*hidden/);
  card.look({ hasPipeline: true });
  assert.match(firstPaint(card), /<pre (?![^>]*hidden)/);
  card.setOpen(false);
  const sentences = () => firstPaint(card).match(/<li[ >].*?<\/li>/g)?.length;
  assert.equal(sentences(), 3);
  card.look({ hasAllProblems: true });
  assert.equal(sentences(), 21);
  card.stop();
});
