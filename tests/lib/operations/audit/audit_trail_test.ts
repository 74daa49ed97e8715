import assert from "node:assert/strict";
import { AuditTrail, CHAIN_START, type DurableSink, type SealedRecord } from "@/lib/operations/audit/audit_trail.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { event, eventually, NOON } from "./audit_fixture.ts";

/** A sink that holds each write until the test lets it end, or make it fail. */
class HeldSink implements DurableSink {
  readonly name: string;
  readonly batches: number[][] = [];
  readonly records: SealedRecord[] = [];
  readonly ends: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  #isHeld = true;
  isClosed = false;

  constructor(name = "held") {
    this.name = name;
  }

  /** From now on nothing is held. */
  letGo(): void {
    this.#isHeld = false;
    for (const { resolve } of this.ends) resolve();
  }

  /** From now on writes are held again. */
  hold(): void {
    this.#isHeld = true;
  }

  append(records: readonly SealedRecord[]): Promise<void> {
    this.batches.push(records.map(({ number }) => number));
    this.records.push(...records);
    if (!this.#isHeld) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ends.push({ resolve, reject });
    return promise;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

/** A sink that takes all at once. */
function takingSink(): HeldSink {
  const sink = new HeldSink("taking");
  sink.letGo();
  return sink;
}

interface Further {
  readonly isRequired?: boolean;
  readonly file?: DurableSink;
  readonly waitMs?: number;
}

function trailOf(chain: DurableSink | null, further: Further = {}) {
  const warnings: string[] = [];
  const options = {
    trail: "00000000",
    end: CHAIN_START,
    chain,
    file: null,
    isRequired: false,
    ...further,
  };
  const trail = new AuditTrail({ ...options, now: () => NOON, warn: (line) => void warnings.push(line) });
  return { trail, warnings };
}

const waited = (promise: Promise<unknown>) => Promise.race([promise.then(() => "done"), Promise.resolve("waits")]);

Deno.test("audit trail: a change waits for its record, and all that come meanwhile share the next flush", async () => {
  const sink = new HeldSink();
  const { trail } = trailOf(sink);
  const first = trail.record(event());
  const others = [trail.record(event()), trail.record(event()), trail.record(event())];
  assert.deepEqual(sink.batches, [[1]]);
  assert.equal(await waited(first), "waits");
  sink.ends[0].resolve();
  await first;
  await eventually(() => sink.batches.length === 2);
  assert.deepEqual(sink.batches, [[1], [2, 3, 4]]);
  assert.equal(await waited(others[0]), "waits");
  sink.ends[1].resolve();
  await Promise.all(others);
  await trail.close();
});

Deno.test("audit trail: a disk that takes none stops no change, and gets all that waited", async () => {
  const sink = new HeldSink();
  const { trail, warnings } = trailOf(sink);
  const first = trail.record(event());
  sink.ends[0].reject(new Error("No space left on device"));
  await first;
  assert.match(warnings[0], /cannot be written to held \(No space left on device\): records wait in memory/);
  await trail.record(event());
  assert.deepEqual(trail.figures.get("held"), { written: 0, lost: 0, waiting: 2 });
  await eventually(() => sink.batches.length === 2);
  assert.deepEqual(sink.batches[1], [1, 2]);
  sink.ends[1].resolve();
  await eventually(() => trail.figures.get("held")?.written === 2);
  assert.match(warnings[1], /is written to held again/);
  await trail.close();
});

Deno.test("audit trail: beyond 10,000 that wait, records are lost, which a record tells of", async () => {
  const sink = new HeldSink();
  const { trail } = trailOf(sink);
  const first = trail.record(event());
  sink.ends[0].reject(new Error("No space left on device"));
  await first;
  await Promise.all(Array.from({ length: 10_005 }, () => trail.record(event())));
  const { lost = 0, waiting = 0 } = trail.figures.get("held") ?? {};
  assert.equal(lost + waiting, 10_006);
  assert.ok(lost > 0 && waiting >= 10_000, `${lost} lost`);
  sink.letGo();
  await eventually(() => trail.figures.get("held")?.written === waiting + 1);
  assert.deepEqual(sink.records.at(-1)?.record.details, { count: lost });
  await trail.close();
});

/** A change whose record has some 41,000 characters. */
function longEvent() {
  const names = Array.from({ length: 20 }, () => "x".repeat(1024));
  return event({ details: { keys: names, settings: names } });
}

/** How many such records 16 Mi characters hold: the last one may be longer than what was left. */
const LONG_RECORDS = 405;

Deno.test("audit trail: beyond 16 Mi characters that wait for a disk, records are lost", async () => {
  for (const where of ["chain", "file"]) {
    const sink = new HeldSink();
    const { trail } = where === "chain" ? trailOf(sink) : trailOf(takingSink(), { file: sink });
    const first = trail.record(longEvent());
    sink.ends[0].reject(new Error("No space left on device"));
    await first;
    for (let n = 1; n < LONG_RECORDS; n++) await trail.record(longEvent());
    assert.deepEqual(trail.figures.get("held"), { written: 0, lost: 0, waiting: LONG_RECORDS }, where);
    for (let n = 0; n < 5; n++) await trail.record(longEvent());
    assert.deepEqual(trail.figures.get("held"), { written: 0, lost: 5, waiting: LONG_RECORDS }, where);
    sink.letGo();
    await eventually(() => trail.figures.get("held")?.written === LONG_RECORDS + 1);
    assert.ok(sink.batches.length > 16 && sink.batches.every(({ length }) => length <= 25), "1 Mi at once");
    assert.deepEqual(
      sink.batches.slice(1).flat().slice(0, LONG_RECORDS),
      Array.from({ length: LONG_RECORDS }, (_, n) => n + 1),
    );
    await trail.close();
  }
});

/** A trail whose file fails from the first record on. */
async function withBrokenFile(isRequired: boolean) {
  const [chain, file] = [takingSink(), new HeldSink("file")];
  const { trail, warnings } = trailOf(chain, { file, isRequired });
  const first = trail.record(event());
  file.ends[0].reject(new Error("No space left on device"));
  await first.catch(() => {});
  return { trail, warnings, chain, file };
}

Deno.test("audit trail: a file that takes none costs the chain no record, drops what it has no room for, and says so", async () => {
  const { trail, chain, file } = await withBrokenFile(false);
  for (let batch = 0; batch < 2; batch++) {
    await Promise.all(Array.from({ length: 6000 }, () => trail.record(event())));
  }
  assert.deepEqual(trail.figures.get("taking"), { written: 12_001, lost: 0, waiting: 0 });
  assert.deepEqual(trail.figures.get("file"), { written: 0, lost: 2001, waiting: 10_000 });
  file.letGo();
  await eventually(() => chain.records.length === 12_002);
  const { record } = chain.records[12_001];
  assert.deepEqual([record.action, record.details], ["audit_gap", { count: 2001, sink: "file" }]);
  await trail.close();
  assert.equal(file.batches.at(-1)?.at(-1), 12_002);
});

Deno.test("audit trail: where records are required, a change is not confirmed whose record the file dropped", async () => {
  const { trail, chain, file } = await withBrokenFile(true);
  const results = await Promise.allSettled(Array.from({ length: 9999 }, () => trail.record(event())));
  assert.ok(results.every(({ status }) => status === "rejected"));
  await assert.rejects(trail.record(event()), { status: 507, detail: /was made, but it could not be recorded/ });
  assert.equal(trail.figures.get("file")?.lost, 1);
  assert.equal(chain.records.length, 10_001);
  file.letGo();
  await trail.close();
});

Deno.test("audit trail: where records are required, a dropped record is none of the file's, though all others are written by then", async () => {
  const [chain, file] = [new HeldSink("chain"), new HeldSink("file")];
  const { trail } = trailOf(chain, { file, isRequired: true });
  const first = trail.record(event());
  chain.letGo();
  file.ends[0].reject(new Error("No space left on device"));
  await first.catch(() => {});
  await Promise.allSettled(Array.from({ length: 9999 }, () => trail.record(event())));
  chain.hold();
  const dropped = trail.record(event());
  file.letGo();
  await eventually(() => (trail.figures.get("file")?.written ?? 0) >= 10_000);
  chain.letGo();
  await assert.rejects(dropped, { status: 507 });
  await trail.close();
});

Deno.test("audit trail: where records are required, a change that has none is not confirmed, and the next is refused", async () => {
  const sink = new HeldSink();
  const { trail } = trailOf(sink, { isRequired: true });
  trail.requireRoom();
  const first = trail.record(event());
  sink.ends[0].reject(new Error("No space left on device"));
  await assert.rejects(first, { status: 507, detail: /was made, but it could not be recorded/ });
  assert.throws(() => trail.requireRoom(), { status: 507, detail: /are refused until they can/ });
  await eventually(() => sink.ends.length === 2);
  sink.ends[1].resolve();
  await eventually(() => trail.figures.get("held")?.waiting === 0);
  trail.requireRoom();
  await trail.close();
});

Deno.test("audit trail: a write that does not end stops no change and has no other beside it, and all is written after it", async () => {
  const sink = new HeldSink();
  const { trail, warnings } = trailOf(sink, { waitMs: 20 });
  await trail.record(event());
  assert.match(warnings[0], /cannot be written to held \(a write has not ended for 0\.02 s\): records wait in memory/);
  await trail.record(event());
  assert.deepEqual(trail.figures.get("held"), { written: 0, lost: 0, waiting: 2 });
  const closed = trail.close();
  assert.deepEqual(sink.batches, [[1]]);
  sink.letGo();
  await closed;
  assert.deepEqual(sink.batches, [[1], [2]]);
  assert.match(warnings[1], /is written to held again/);
  assert.equal(sink.isClosed, true);
});

Deno.test("audit trail: a file whose write does not end keeps nothing from the chain, however much comes meanwhile", async () => {
  const [chain, file] = [takingSink(), new HeldSink("file")];
  const { trail } = trailOf(chain, { file, waitMs: 600_000 });
  const recorded = Array.from({ length: 9000 }, () => trail.record(event()));
  await eventually(() => chain.records.length === 9000);
  recorded.push(...Array.from({ length: 6000 }, () => trail.record(event())));
  await eventually(() => chain.records.length === 15_000);
  assert.deepEqual(trail.figures.get("taking"), { written: 15_000, lost: 0, waiting: 0 });
  file.letGo();
  await Promise.all(recorded);
  assert.equal(trail.figures.get("file")?.lost, 5000);
  await trail.close();
});

Deno.test("audit trail: a stop takes as long as it is given, 2 s at most", async () => {
  for (const [given, taken] of [[20, 20], [600_000, 2000], [undefined, 2000]]) {
    using clock = new ManualClock();
    const sink = new HeldSink();
    const { trail } = trailOf(sink);
    const recorded = trail.record(event());
    const closed = trail.close(given);
    clock.advance(taken! - 1);
    assert.equal(await waited(closed), "waits");
    clock.advance(1);
    await Promise.all([closed, recorded]);
    sink.letGo();
  }
});

Deno.test("audit trail: a change after a stop has no record, which is said, and is not confirmed where records are required", async () => {
  for (const isRequired of [false, true]) {
    const { trail, warnings } = trailOf(takingSink(), { isRequired });
    await trail.close();
    const [{ status }] = await Promise.allSettled([trail.record(event())]);
    assert.equal(status, isRequired ? "rejected" : "fulfilled");
    assert.deepEqual(warnings, ["The audit trail: 1 changes have no record"]);
  }
});

Deno.test("audit trail: where records are required, a change that a stop has recorded is confirmed", async () => {
  using clock = new ManualClock();
  const sink = new HeldSink();
  const { trail, warnings } = trailOf(sink, { isRequired: true });
  const recorded = [trail.record(event()), trail.record(event())];
  const closed = trail.close();
  clock.advance(1000);
  await eventually(() => sink.batches.length === 1);
  // The first write ends when the stop no longer waits for it, and the second change is passed on by the stop itself.
  await eventually(() => trail.figures.get("held")?.waiting === 2);
  sink.letGo();
  await closed;
  await Promise.all(recorded);
  assert.deepEqual([sink.batches.flat(), warnings], [[1, 2], []]);
});

Deno.test("audit trail: a stop does not wait for a write that does not end, and says what it had not written", async () => {
  for (const waitMs of [20, undefined]) {
    const sink = new HeldSink();
    const { trail, warnings } = trailOf(sink, { waitMs });
    const recorded = trail.record(event());
    await trail.close();
    assert.deepEqual(sink.batches, [[1]]);
    assert.match(warnings.at(-1) ?? "", /1 records were not delivered to held/);
    assert.equal(sink.isClosed, false, "it may be as slow to close");
    await recorded;
    sink.letGo();
  }
});

Deno.test("audit trail: a change does not wait for a disk that hangs once the process stops, and is confirmed where it is on it", async () => {
  for (const isRequired of [true, false]) {
    const [chain, file] = [takingSink(), new HeldSink("file")];
    const { trail } = trailOf(chain, { file, isRequired });
    const written = trail.record(event());
    file.ends[0].resolve();
    await written;
    const changes = [trail.record(event())];
    trail.hurry();
    changes.push(trail.record(event()));
    const results = await Promise.allSettled(changes);
    const expected = isRequired ? "rejected" : "fulfilled";
    assert.deepEqual(results.map(({ status }) => status), [expected, expected]);
    file.letGo();
    await trail.record(event());
    await trail.close();
    assert.deepEqual(file.batches, [[1], [2], [3, 4]]);
  }
});

Deno.test("audit trail: a stop leaves no change without an answer, and confirms only those that are on each disk", async () => {
  const [chain, file] = [takingSink(), new HeldSink("file")];
  const { trail } = trailOf(chain, { file, isRequired: true });
  const first = trail.record(event());
  file.ends[0].resolve();
  await first;
  const recorded = [trail.record(event()), trail.record(event())];
  await eventually(() => chain.records.length === 3);
  await Promise.all([trail.close(), ...recorded.map((change) => assert.rejects(change, { status: 507 }))]);
  assert.deepEqual(file.batches, [[1], [2]]);
  file.letGo();
});

Deno.test("audit trail: where records are required, a change whose write does not end is not confirmed", async () => {
  const sink = new HeldSink();
  const { trail } = trailOf(sink, { isRequired: true, waitMs: 20 });
  await assert.rejects(trail.record(event()), { status: 507 });
  assert.throws(() => trail.requireRoom(), { status: 507 });
  sink.letGo();
  await trail.close();
});

Deno.test("audit trail: an event that cannot be made a record costs no other event its own", async () => {
  const sink = takingSink();
  const { trail } = trailOf(sink);
  const bad = event({ target: { kind: "object", key: 1 as unknown as string } });
  const results = await Promise.allSettled([trail.record(bad), trail.record(event()), trail.record(bad)]);
  assert.deepEqual(results.map(({ status }) => status), ["rejected", "fulfilled", "rejected"]);
  await assert.rejects(trail.record(bad));
  await trail.record(event());
  await trail.close();
  assert.deepEqual(sink.records.map(({ number }) => number), sink.records.map((_, i) => i + 1));
  assert.equal(sink.records.filter(({ record }) => record.action === "object_write").length, 2);
  const gaps = sink.records.filter(({ record }) => record.action === "audit_gap");
  assert.equal(gaps.reduce((sum, { record }) => sum + Number(record.details.count), 0), 3);
});
