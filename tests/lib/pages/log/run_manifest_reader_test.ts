import assert from "node:assert/strict";
import { RunManifestReader } from "@/lib/pages/log/run_manifest_reader_client.ts";
import { HeldClock } from "@/tests/lib/pages/browser/held_clock.ts";

const WHOLE = { pages: 1, results: { "0001": { status: "ok", seconds: 1 } } };

function readerOf(answer: () => Response) {
  const clock = new HeldClock();
  const seen = { reads: 0 };
  const reader = new RunManifestReader("http://127.0.0.1/results/manifest.json", {
    clock,
    fetch: () => {
      seen.reads++;
      return Promise.resolve(answer());
    },
    onLogin: () => {},
    onEnd: () => {},
  });
  return { reader, clock, seen };
}

Deno.test("run manifest reader: reads once when the run is over, and once more when the log says so", async () => {
  const over = readerOf(() => Response.json(WHOLE));
  over.reader.start(false);
  await over.clock.pass(600);
  assert.equal(over.seen.reads, 1);
  const failed = readerOf(() => new Response(null, { status: 404 }));
  failed.reader.start(true);
  await failed.clock.pass(1);
  failed.reader.settle();
  await failed.clock.pass(600);
  assert.equal(failed.seen.reads, 2);
});

Deno.test("run manifest reader: says why there is no summary, and keeps one that it has", async () => {
  const problem = async (answer: () => Response) => {
    const { reader, clock } = readerOf(answer);
    reader.start(false);
    await clock.pass(1);
    return reader.state.value.kind === "problem" ? reader.state.value.sentence : reader.state.value.kind;
  };
  assert.match(await problem(() => new Response(null, { status: 403 })), /may not read/);
  assert.match(await problem(() => new Response(null, { status: 502 })), /does not answer/);
  for (const text of ["<html>", " ".repeat(33 * 1024 * 1024)]) {
    assert.match(await problem(() => new Response(text)), /its manifest is not valid/);
  }
  assert.match(await problem(() => assert.fail("no network")), /cannot be reached/);

  const answers = [Response.json({ ...WHOLE, pages: 2 }), new Response(null, { status: 502 })];
  const { reader, clock } = readerOf(() => answers.shift() ?? Response.json(WHOLE));
  reader.start(true);
  await clock.pass(16);
  assert.equal(reader.state.value.kind, "read");
  reader.stop();
});

Deno.test("run manifest reader: started again it reads at once, whatever failed before", async () => {
  const { reader, clock, seen } = readerOf(() => new Response(null, { status: 503 }));
  reader.start(true);
  await clock.pass(600);
  reader.settle();
  await clock.pass(0);
  const { reads } = seen;
  reader.start(true);
  await clock.pass(0);
  assert.equal(seen.reads, reads + 1);
  reader.stop();
});
