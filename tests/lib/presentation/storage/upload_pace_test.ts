import assert from "node:assert/strict";

import { UploadPace } from "@/lib/presentation/storage/upload_pace.ts";

Deno.test("upload pace: the rate of the last ten seconds, once a second has passed", () => {
  const pace = new UploadPace();
  assert.equal(pace.rate(0), null);
  for (let now = 0; now < 20_000; now += 100) {
    pace.add(now < 10_000 ? 100 : 300, now);
    if (now < 900) assert.equal(pace.rate(now), null);
  }
  const rate = pace.rate(20_000) ?? 0;
  assert.ok(Math.abs(rate - 3000) < 100, String(rate));
  assert.equal(pace.rate(40_000), 0, "nothing was sent lately");
});

Deno.test("upload pace: a pause is not part of the rate", () => {
  const pace = new UploadPace();
  pace.add(1000, 0);
  pace.restart();
  assert.equal(pace.rate(5000), null);
  pace.add(1000, 60_000);
  assert.equal(pace.rate(62_000), 500);
});
