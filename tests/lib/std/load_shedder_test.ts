import assert from "node:assert/strict";
import { seededRandom } from "@/embedded/archive/seeded_random.ts";
import { LoadShedder } from "@/lib/std/load_shedder.ts";

const MAX_DELAY_MS = 50;
/** What an admitted request costs the processor, and a refused one, ms. */
const REQUEST_MS = 1;
const REFUSAL_MS = 0.05;

interface Arrival {
  readonly at: number;
  readonly address: string;
}

interface Seen {
  admitted: number;
  refused: number;
  /** From arrival to the end of the turn that handled it, ms. */
  readonly waits: number[];
}

/** An event loop without time of its own: each turn fires the timers that are due and handles what has come since. */
class Loop {
  now = 0;
  /** How long its process has worked. */
  busyMs = 0;
  readonly changes: [isShedding: boolean, refused: number][] = [];
  readonly seen = new Map<string, Seen>();
  readonly shedder = new LoadShedder({
    maxDelayMs: MAX_DELAY_MS,
    now: () => this.now,
    cpuMs: () => this.busyMs,
    after: (ms, call) => this.timers.push({ at: this.now + ms, call }),
    onChange: (isShedding, refused) => this.changes.push([isShedding, refused]),
  });
  timers: { readonly at: number; readonly call: () => void }[] = [];
  /** What each turn costs besides requests, ms. */
  otherMs = 0;

  of(address: string): Seen {
    const seen = this.seen.get(address) ?? { admitted: 0, refused: 0, waits: [] };
    this.seen.set(address, seen);
    return seen;
  }

  /** Handles arrivals in their order, and further ones that `next` makes of each that was handled. */
  run(arrivals: Arrival[], next: (handled: Arrival, at: number) => Arrival | null = () => null): void {
    for (let done = 0; done < arrivals.length;) {
      this.turn();
      const first = done;
      while (done < arrivals.length && arrivals[done].at <= this.now) done++;
      const ready = arrivals.slice(first, done);
      this.work(this.otherMs);
      const admitted = ready.flatMap(({ at, address }) => {
        const since = this.shedder.enter(true, () => address);
        this.work(since === null ? REFUSAL_MS : REQUEST_MS);
        if (since === null) this.of(address).refused++;
        return since === null ? [] : [{ at, address, since }];
      });
      for (const { at, address, since } of admitted) {
        this.of(address).admitted++;
        this.of(address).waits.push(this.now - at);
        this.shedder.leave(true, since);
      }
      arrivals.push(...ready.flatMap((handled) => next(handled, this.now) ?? []));
      if (ready.length > 0) continue;
      const due = Math.min(arrivals[done].at, ...this.timers.map(({ at }) => at));
      this.now = Math.max(this.now + this.otherMs, due);
    }
  }

  work(ms: number): void {
    this.now += ms;
    this.busyMs += ms;
  }

  /** Lets time pass without requests. */
  rest(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = Math.min(...this.timers.map(({ at }) => at));
      if (due > end) break;
      this.now = Math.max(this.now, due);
      this.turn();
    }
    this.now = end;
  }

  turn(): void {
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { call } of due) call();
  }
}

/** A loop in which so many requests have begun and not ended, and whose timer has just fired. */
function uploading(count: number): { readonly loop: Loop; readonly shedder: LoadShedder } {
  const loop = new Loop();
  for (let n = 0; n < count; n++) loop.shedder.enter(true, () => "192.0.2.1");
  loop.rest(20);
  return { loop, shedder: loop.shedder };
}

/** So many requests for each ms, evenly. */
function arrivals(from: number, ms: number, rate: number, address = "192.0.2.1"): Arrival[] {
  return Array.from({ length: Math.round(ms * rate) }, (_, n) => ({ at: from + n / rate, address }));
}

function share(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
}

Deno.test("load shedder: refuses nothing of what the event loop can handle", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 10_000, 0.9));
  assert.deepEqual(loop.shedder.figures, { isShedding: false, refused: 0 });
});

Deno.test("load shedder: a long pause is no overload, nor are many clients that each wait for their responses", () => {
  const paused = new Loop();
  paused.run(arrivals(0, 1000, 0.5));
  paused.now += 300;
  paused.run(arrivals(1000, 9000, 0.5));
  assert.equal(paused.of("192.0.2.1").refused, 0);

  const clients = new Loop();
  clients.run(
    arrivals(0, 90, 1),
    ({ address }, at) => at < 10_000 ? { at, address } : null,
  );
  assert.equal(clients.of("192.0.2.1").refused, 0);
  assert.ok(clients.of("192.0.2.1").admitted > 9000);
});

Deno.test("load shedder: one long computation among many uploads is no overload", () => {
  const { loop, shedder } = uploading(150);
  loop.now += 300;
  assert.notEqual(shedder.enter(true, () => "192.0.2.1"), null);
  assert.equal(shedder.figures.isShedding, false);
});

Deno.test("load shedder: many requests in one long turn are an overload", () => {
  const { loop, shedder } = uploading(150);
  const admitted = Array.from({ length: 300 }, () => {
    loop.now += REQUEST_MS;
    return shedder.enter(true, () => "192.0.2.1");
  });
  assert.ok(admitted.includes(null));
  assert.ok(shedder.figures.isShedding);
});

for (const times of [1.5, 3, 10]) {
  Deno.test(`load shedder: of ${times} times what can be handled, what is admitted waits little, and most of it is done`, () => {
    const loop = new Loop();
    loop.run(arrivals(0, 30_000, times / REQUEST_MS));
    const { admitted, refused, waits } = loop.of("192.0.2.1");
    const forRefusals = refused * REFUSAL_MS;
    assert.ok(share(waits, 0.5) < MAX_DELAY_MS, `median ${share(waits, 0.5)}`);
    assert.ok(share(waits, 0.97) < MAX_DELAY_MS * 1.5, `97 % ${share(waits, 0.97)}`);
    assert.ok(admitted * REQUEST_MS > 0.75 * (loop.now - forRefusals), `${admitted} in ${loop.now - forRefusals}`);
  });
}

Deno.test("load shedder: reads wait little where another thread is late and the event loop is not", () => {
  const { waits, admittedShare } = requestsOfAnotherThread(true);
  assert.ok(share(waits, 0.5) < 20, `median ${share(waits, 0.5)}`);
  assert.ok(share(waits, 0.97) < MAX_DELAY_MS, `97 % ${share(waits, 0.97)}`);
  assert.ok(admittedShare > 0.75, `${admittedShare} of what it can do`);
});

Deno.test("load shedder: uploads that come slowly do not make it refuse more", () => {
  assert.ok(requestsOfAnotherThread(false).admittedShare > 0.95);
});

for (
  const [what, before] of [["from the first request on", []], ["after shorter ones", Array(60_000).fill(2)]] as const
) {
  Deno.test(`load shedder: reads that take long ${what}, however many there are, keep no overload going`, () => {
    const loop = new Loop();
    for (const ms of before) {
      const since = loop.shedder.enter(true, () => "192.0.2.1");
      loop.now += ms;
      loop.shedder.leave(true, since!);
    }
    const { admitted } = readsOfStore(loop, { perMs: 1.5, readMs: 80, forMs: 30_000 });
    assert.equal(loop.shedder.figures.isShedding, false);
    assert.ok(admitted > 0.6 * 45_000, `${admitted} of 45,000`);
  });
}

/** Requests that a remote store responds to after so long, from the begin of an overload by something else. */
function readsOfStore(loop: Loop, { perMs, readMs, forMs }: { perMs: number; readMs: number; forMs: number }) {
  for (let n = 0; n < 300; n++) {
    loop.now++;
    loop.shedder.enter(true, () => "192.0.2.1");
  }
  assert.ok(loop.shedder.figures.isShedding);
  const end = loop.now + forMs;
  let admitted = 0;
  const leaving: number[] = [];
  for (let at = loop.now; at < end; at += 1 / perMs) {
    loop.now = at;
    loop.turn();
    while (leaving.length > 0 && leaving[0] + readMs <= at) loop.shedder.leave(true, leaving.shift()!);
    const since = loop.shedder.enter(true, () => "192.0.2.1");
    if (since === null) continue;
    admitted++;
    leaving.push(since);
  }
  return { admitted };
}

/** Another thread that handles what the event loop passes on to it, one after the other, and does nothing else. */
class OtherThread {
  readonly loop = new Loop();
  /** How long each request was there, ms. */
  readonly waits: number[] = [];
  readonly #under: { readonly since: number; readonly end: number }[] = [];
  readonly #serviceMs: number;
  readonly #isRead: boolean;
  #freeAt = 0;

  constructor(serviceMs: number, isRead = true) {
    this.#serviceMs = serviceMs;
    this.#isRead = isRead;
  }

  /** @returns whether it is admitted */
  arrive(then: () => void = () => {}, address = "192.0.2.1"): boolean {
    const { loop } = this;
    const since = loop.shedder.enter(this.#isRead, () => address);
    if (since === null) return false;
    const end = Math.max(this.#freeAt, loop.now) + this.#serviceMs;
    this.#freeAt = end;
    this.#under.push({ since, end });
    this.waits.push(end - since);
    this.#then.push(then);
    return true;
  }

  readonly #then: (() => void)[] = [];

  /** Lets time pass up to a time. */
  until(at: number): void {
    const { loop } = this;
    for (;;) {
      const due = Math.min(at, this.#under[0]?.end ?? Infinity, ...loop.timers.map((timer) => timer.at));
      loop.now = Math.max(loop.now, due);
      if (this.#under[0]?.end === due) {
        loop.busyMs += this.#serviceMs;
        loop.shedder.leave(this.#isRead, this.#under.shift()!.since);
        this.#then.shift()!();
      } else if (due === at) return;
      else loop.turn();
    }
  }

  /** So many requests for each ms, evenly. */
  stream(ms: number, rate: number): void {
    const began = this.loop.now;
    for (let n = 0; n < ms * rate; n++) {
      this.until(began + n / rate);
      this.arrive();
    }
  }
}

/**
 * Three times as many requests as another thread can handle, after an overload has begun.
 *
 * @returns how long requests were there, ms, and how many were admitted of those that the thread can handle
 */
function requestsOfAnotherThread(isRead: boolean) {
  const serviceMs = 2;
  const thread = new OtherThread(serviceMs, isRead);
  thread.stream(8000, 0.25);
  // A turn of the event loop in which this many come begins an overload.
  for (let n = 0; n < 300; n++) {
    thread.loop.now++;
    thread.arrive();
  }
  assert.ok(thread.loop.shedder.figures.isShedding);
  thread.waits.length = 0;
  thread.stream(30_000, 3 / serviceMs);
  return { waits: thread.waits, admittedShare: thread.waits.length * serviceMs / 30_000 };
}

Deno.test("load shedder: an overload of another thread begins before reads have waited long", () => {
  for (const times of [1.5, 3, 10]) {
    const thread = new OtherThread(1);
    thread.stream(5000, 0.5);
    thread.waits.length = 0;
    thread.stream(10_000, times);
    assert.ok(thread.loop.shedder.figures.refused > 0);
    const most = Math.max(...thread.waits);
    // What comes before the overload is known is admitted.
    assert.ok(most < 3 * MAX_DELAY_MS + times * 100, `${times} times: ${most}`);
    assert.ok(share(thread.waits, 0.9) < 4 * MAX_DELAY_MS, `${times} times: 90 % ${share(thread.waits, 0.9)}`);
  }
});

Deno.test("load shedder: an overload of a thread that handles few reads a second begins as well", () => {
  for (const serviceMs of [10, 20]) {
    const thread = new OtherThread(serviceMs);
    thread.stream(20_000, 0.3 / serviceMs);
    thread.waits.length = 0;
    thread.stream(60_000, 1.5 / serviceMs);
    const [half, most] = [share(thread.waits, 0.5), Math.max(...thread.waits)];
    // There are a hundred of them before it begins.
    assert.ok(most < 150 * serviceMs, `${serviceMs} ms: ${most}`);
    assert.ok(half < 15 * serviceMs, `${serviceMs} ms: median ${half}`);
  }
});

Deno.test("load shedder: clients that each wait for their responses are no overload of another thread", () => {
  const thread = new OtherThread(1);
  const again = () => {
    if (thread.loop.now < 5000) thread.arrive(again);
  };
  for (let n = 0; n < 150; n++) thread.arrive(again);
  thread.until(6000);
  assert.deepEqual(thread.loop.shedder.figures, { isShedding: false, refused: 0 });
  assert.ok(thread.waits.length > 4900);
});

interface Stream {
  /** Requests for each ms, at a time. */
  readonly perMs: (now: number) => number;
  /** How long one takes, ms, all of which it waits for others. */
  readonly takesMs: () => number;
  /** What one costs the processor, ms. */
  readonly costMs: number;
  readonly isRead: boolean;
}

/** @returns how many of these requests are refused, by a process in which none waits for another */
function refusedOf(streams: readonly Stream[], forMs: number): number {
  const loop = new Loop();
  const under: { readonly end: number; readonly since: number; readonly isRead: boolean }[] = [];
  const owed = streams.map(() => 0);
  for (let now = 0; now < forMs; now++) {
    loop.now = now;
    loop.turn();
    for (let n = under.length - 1; n >= 0; n--) {
      if (under[n].end > now) continue;
      const [{ isRead, since }] = under.splice(n, 1);
      loop.shedder.leave(isRead, since);
    }
    for (const [n, { perMs, takesMs, costMs, isRead }] of streams.entries()) {
      for (owed[n] += perMs(now); owed[n] >= 1; owed[n]--) {
        const since = loop.shedder.enter(isRead, () => `192.0.2.${now % 40}`);
        loop.busyMs += since === null ? REFUSAL_MS : costMs;
        if (since !== null) under.push({ end: now + takesMs(), since, isRead });
      }
    }
  }
  return loop.shedder.figures.refused;
}

const fastReads: Stream = { perMs: () => 1, takesMs: () => 5, costMs: 0.6, isRead: true };

Deno.test("load shedder: reads that hang are no overload of a process that is busy with others", () => {
  const hanging = (takesMs: number, perMs: number): Stream => ({
    perMs: (now) => now < 5000 ? 0 : perMs,
    takesMs: () => takesMs,
    costMs: 0.1,
    isRead: true,
  });
  assert.equal(refusedOf([fastReads, hanging(3000, 0.05)], 20_000), 0);
  assert.equal(refusedOf([fastReads, hanging(30_000, 0.01)], 30_000), 0);
});

Deno.test("load shedder: uploads that last are no overload of a process that is busy with them, and reads few", () => {
  const uploads: Stream = { perMs: () => 0.065, takesMs: () => 2000, costMs: 12, isRead: false };
  const reads: Stream = { perMs: () => 0.005, takesMs: () => 80, costMs: 0.5, isRead: true };
  assert.equal(refusedOf([uploads, reads], 30_000), 0);
});

Deno.test("load shedder: reads of a busy process that become slower for another reason keep no overload going", () => {
  const slower = (perMs: number, fromMs: number, toMs: number): Stream => {
    let came = 0;
    return { perMs: () => perMs, takesMs: () => ++came < 10_000 ? fromMs : toMs, costMs: 0.5, isRead: true };
  };
  for (const [fromMs, toMs] of [[2, 120], [5, 80]]) {
    const refused = refusedOf([slower(1.5, fromMs, toMs)], 60_000);
    assert.ok(refused < 3000, `${fromMs} to ${toMs} ms: ${refused} of 90,000`);
  }
});

Deno.test("load shedder: a mix of quick and slow reads is no overload of a busy process", () => {
  const random = seededRandom("mix");
  const mix: Stream = { perMs: () => 1.5, takesMs: () => random() < 0.5 ? 2 : 1000, costMs: 0.47, isRead: true };
  assert.equal(refusedOf([mix], 60_000), 0);
});

Deno.test("load shedder: ten times as many reads of a distant store as before are no overload, however much they vary", () => {
  const random = seededRandom("distant store");
  for (const [perMs, readMs, costMs] of [[1.5, 80, 0.5], [2, 200, 0.4], [1, 300, 0.6]]) {
    const reads: Stream = {
      perMs: (now) => now < 10_000 ? perMs / 10 : perMs,
      takesMs: () => readMs * (0.6 + 0.8 * random()),
      costMs,
      isRead: true,
    };
    assert.equal(refusedOf([reads], 40_000), 0, `${readMs} ms`);
  }
});

Deno.test("load shedder: reads that a store takes ever longer for are no overload of a process that is not busy", () => {
  const { loop } = new OtherThread(1);
  const under: { readonly since: number; readonly end: number }[] = [];
  for (let n = 0; n < 20_000; n++) {
    loop.now = n / 2;
    loop.turn();
    while (under.length > 0 && under[0].end <= loop.now) loop.shedder.leave(true, under.shift()!.since);
    const since = loop.shedder.enter(true, () => "192.0.2.1")!;
    under.push({ since, end: Math.max(loop.now + n / 10, under.at(-1)?.end ?? 0) });
  }
  assert.ok(under.length > 1000);
  assert.deepEqual(loop.shedder.figures, { isShedding: false, refused: 0 });
});

Deno.test("load shedder: reads of an address that sends little find room among those that another thread works on", () => {
  const thread = new OtherThread(1);
  thread.stream(2000, 5);
  let refused = 0;
  for (let n = 0; n < 100; n++) {
    thread.stream(200, 5);
    // The other address sends much at once.
    for (let k = 0; k < 300; k++) thread.arrive();
    if (!thread.arrive(() => {}, "192.0.2.2")) refused++;
  }
  assert.ok(refused < 10, `${refused} of 100`);
});

Deno.test("load shedder: during an overload, what comes in a pause does not wait behind all of it", () => {
  const thread = new OtherThread(1);
  thread.stream(5000, 3);
  thread.waits.length = 0;
  // All of it comes at once, at an admitted rate that rose while nothing came.
  for (let n = 0; n < 20; n++) {
    thread.until(thread.loop.now + 200);
    for (let k = 0; k < 600; k++) thread.arrive();
    thread.stream(500, 3);
  }
  const most = Math.max(...thread.waits);
  assert.ok(most < 1.5 * MAX_DELAY_MS, `${most}`);
});

Deno.test("load shedder: an overload ends within two seconds of its cause, and says what it refused", () => {
  const loop = new Loop();
  loop.run([...arrivals(0, 5000, 10), ...arrivals(5000, 10_000, 0.5, "192.0.2.2")]);
  assert.deepEqual(loop.shedder.figures, { isShedding: false, refused: loop.changes[1][1] });
  assert.deepEqual(loop.changes.map(([isShedding]) => isShedding), [true, false]);
  const { refused } = loop.of("192.0.2.2");
  assert.ok(refused < 500, `${refused} refused afterwards`);
});

Deno.test("load shedder: an address that sends little is served beside one that sends ten times too much", () => {
  const loop = new Loop();
  const both = [...arrivals(0, 20_000, 10, "192.0.2.1"), ...arrivals(2000, 18_000, 0.02, "192.0.2.2")];
  loop.run(both.toSorted((a, b) => a.at - b.at));
  const { admitted, refused } = loop.of("192.0.2.2");
  assert.ok(refused < 0.05 * admitted, `${refused} refused of ${admitted + refused}`);
  assert.ok(loop.of("192.0.2.1").refused > 100_000);
});

Deno.test("load shedder: admits requests still where the event loop is late for another reason", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 3000, 3));
  loop.otherMs = 30;
  const before = loop.of("192.0.2.1").admitted;
  loop.run(arrivals(loop.now, 20_000, 0.3));
  const { admitted } = loop.of("192.0.2.1");
  assert.ok(admitted - before > 2000, `${admitted - before} of 6000`);
});

Deno.test("load shedder: some requests at a time are admitted in any overload", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 3000, 10));
  assert.ok(loop.shedder.figures.isShedding);
  const admitted =
    Array.from({ length: 100 }, () => loop.shedder.enter(true, () => "192.0.2.9")).filter((at) => at !== null).length;
  assert.ok(admitted >= 8, `${admitted}`);
  assert.ok(admitted < 100);
});

Deno.test("load shedder: uploads that stall take no places of reads", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 3000, 10));
  assert.ok(loop.shedder.figures.isShedding);
  const enter = (isRead: boolean) => loop.shedder.enter(isRead, () => "192.0.2.9") !== null;
  while (enter(false));
  assert.ok(enter(true));
});

Deno.test("load shedder: does not look at the event loop while no requests come", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 100, 1));
  loop.rest(2000);
  assert.deepEqual(loop.timers, []);
  loop.run(arrivals(loop.now, 3000, 3));
  assert.ok(loop.shedder.figures.isShedding);
});
