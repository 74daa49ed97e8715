import assert from "node:assert/strict";

import { LogReader, MAX_FAILED_READS } from "@/lib/pages/log/log_reader_client.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";

const RUNNING = "2026-11-21 08:15:00,250 INFO page 0001 done\n";
const ENDED = RUNNING + "2026-11-21 08:15:09,250 INFO [v] COMPLETE 1 pages in 9 s\n";

function readerOf(answer: () => Response) {
  const clock = new HeldClock();
  const seen = { reads: 0 };
  const reader = new LogReader("http://127.0.0.1/results/l.txt", {
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

Deno.test("log reader: without the right it says so and ends", async () => {
  const { reader, clock, seen } = readerOf(() => new Response(null, { status: 403 }));
  reader.start(true);
  await clock.pass(60);
  assert.deepEqual([seen.reads, reader.problem.value, reader.following.value], [1, 403, false]);
});

Deno.test("log reader: a log that is not there yet is waited for, but not for ever", async () => {
  const { reader, clock, seen } = readerOf(() => new Response(null, { status: 404 }));
  reader.start(true);
  await clock.pass(0);
  await clock.pass(16);
  assert.deepEqual([seen.reads, reader.problem.value, reader.stopped.value], [2, 404, false]);
  await clock.pass(100_000);
  assert.equal(seen.reads, MAX_FAILED_READS);
  assert.deepEqual([reader.stopped.value, reader.following.value], [true, false]);
  reader.start(true);
  await clock.pass(0);
  await clock.pass(16);
  assert.equal(seen.reads, MAX_FAILED_READS + 2);
  assert.equal(reader.stopped.value, false);
  reader.stop();
});

Deno.test("log reader: its beginning is left out until the whole is wanted, also while it grows", async () => {
  let log = `${RUNNING}${`x${" ".repeat(98)}\n`.repeat(21_000)}`;
  const { reader, clock } = readerOf(() => new Response(log));
  reader.start(true);
  await clock.pass(0);
  await untilLog(reader, 21_001);
  assert.ok(Number(reader.log.value?.firstNumber) > 1);
  await reader.showWhole();
  assert.equal(reader.log.value?.firstNumber, 1);
  log += RUNNING;
  await clock.pass(16);
  await untilLog(reader, 21_002);
  assert.equal(reader.log.value?.firstNumber, 1);
  reader.stop();
});

Deno.test("log reader: a log without an ending is no longer followed when it has not grown for 15 minutes", async () => {
  let log = RUNNING;
  const { reader, clock, seen } = readerOf(() => new Response(log));
  reader.start(true);
  await clock.pass(0);
  await clock.pass(14 * 60);
  log += RUNNING;
  await clock.pass(14 * 60);
  assert.deepEqual([reader.quiet.value, reader.following.value], [false, true]);
  await clock.pass(2 * 60);
  assert.deepEqual([reader.quiet.value, reader.following.value, reader.stopped.value], [true, false, false]);
  const { reads } = seen;
  await clock.pass(600);
  assert.equal(seen.reads, reads);
  reader.start(true);
  await clock.pass(0);
  assert.deepEqual([reader.quiet.value, reader.following.value], [false, true]);
  reader.stop();
});

Deno.test("log reader: a log that was old at the first read is not followed, unless the reader wants it", async () => {
  const firstRead = async (sent: string, modified: string, log = RUNNING) => {
    const headers = { Date: sent, "Last-Modified": modified };
    const { reader, clock } = readerOf(() => new Response(log, { headers }));
    reader.start(true);
    await clock.pass(0);
    const seen = [reader.quiet.value, reader.following.value];
    reader.start(true);
    await clock.pass(0);
    assert.equal(reader.following.value, reader.log.value?.outcome !== "finished");
    reader.stop();
    return seen;
  };
  const [atOnce, later] = ["Sat, 21 Nov 2026 08:15:05 GMT", "Sat, 21 Nov 2026 08:35:05 GMT"];
  const nextDay = "Sun, 22 Nov 2026 08:15:05 GMT";
  assert.deepEqual(await firstRead(atOnce, atOnce), [false, true]);
  assert.deepEqual(await firstRead(later, atOnce), [true, false]);
  assert.deepEqual(await firstRead(later, later), [false, true], "the zone of the log is not known");
  assert.deepEqual(await firstRead(nextDay, nextDay), [true, false], "its last line is a day old");
  assert.deepEqual(await firstRead(later, "never"), [false, true]);
  assert.deepEqual(await firstRead(later, atOnce, ENDED), [false, false], "it has an ending");
});

/** A long log is parsed in several tasks. */
async function untilLog(reader: LogReader, lineCount: number): Promise<void> {
  while (reader.log.value?.lineCount !== lineCount) await settled();
}
