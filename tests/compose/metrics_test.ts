import assert from "node:assert/strict";
import { processMetrics } from "@/compose/measured_parts.ts";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { samplesOf } from "@/tests/end_to_end/metrics_scrape.ts";
import { printedErrors } from "@/tests/printed_errors.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const NONE = {
  tasks: null,
  campaigns: null,
  disk: null,
  storeFolder: null,
  notifications: null,
  fixity: null,
  audit: null,
};

function testMetrics(name: string, run: (metrics: ReturnType<typeof processMetrics>) => Promise<void>): void {
  Deno.test(name, async () => {
    const metrics = processMetrics();
    try {
      await run(metrics);
    } finally {
      metrics.close();
    }
  });
}

testMetrics("metrics: a disk that can no longer be read has no value", async (metrics) => {
  let room: { free: number; total: number } | null = { free: 50, total: 100 };
  metrics.watch({ ...NONE, disk: new DiskRoom("/data", () => {}, () => Promise.resolve(room)) });
  assert.equal(samplesOf(await metrics.registry.text()).get("stackroom_disk_free_bytes"), 50);
  room = null;
  const names = [...samplesOf(await metrics.registry.text()).keys()];
  assert.deepEqual(names.filter((name) => name.startsWith("stackroom_disk")), []);
});

testMetrics("metrics: the index of the store is as long as its files are, which may be missing", async (metrics) => {
  const storeFolder = await Deno.makeTempDir();
  metrics.watch({ ...NONE, storeFolder });
  const indexBytes = async () => samplesOf(await metrics.registry.text()).get("stackroom_store_index_bytes");
  using _removal = removeAtEnd(storeFolder);
  assert.equal(await indexBytes(), 0);
  await Deno.writeTextFile(`${storeFolder}/index.db`, "1234567");
  assert.equal(await indexBytes(), 7);
  await Deno.writeTextFile(`${storeFolder}/index.db-wal`, "890");
  assert.equal(await indexBytes(), 10);
});

testMetrics(
  "metrics: what cannot be read leaves the others, and is reported once until it can be read",
  async (metrics) => {
    let isBroken = true;
    metrics.watchSlots("broken", () => {
      if (isBroken) throw new TypeError("no slots");
      return { count: 1, max: 2 };
    });
    metrics.watchSlots("sound", () => ({ count: 3, max: 4 }));
    using printed = printedErrors();
    for (let n = 0; n < 2; n++) {
      const samples = samplesOf(await metrics.registry.text());
      assert.equal(samples.get('stackroom_slots_in_use{limit="sound"}'), 3);
      assert.ok(!samples.has('stackroom_slots_in_use{limit="broken"}'));
    }
    assert.equal(printed.lines.length, 1);
    isBroken = false;
    assert.equal(samplesOf(await metrics.registry.text()).get('stackroom_slots_in_use{limit="broken"}'), 1);
    isBroken = true;
    await metrics.registry.text();
    assert.equal(printed.lines.length, 2);
  },
);
