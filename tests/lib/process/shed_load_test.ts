import assert from "node:assert/strict";
import {
  ALWAYS_OF_ADDRESS,
  type Handler,
  type HandlerInfo,
  LoadShedder,
  MAX_EVENT_LOOP_DELAY_MS as MAX_DELAY_MS,
  shedLoad,
} from "@/lib/process/connections.ts";

const INFO = { remoteAddr: { hostname: "192.0.2.7", port: 1, transport: "tcp" } } as HandlerInfo;
const handler: Handler = ({ url }) => new Response(`handled ${new URL(url).pathname}`);

const refusing = { enter: () => null };
const shed = shedLoad(handler, { shedder: refusing, always: new Set(["/healthz"]), trustedHops: 0 });

Deno.test("shed load: a refused request is 503 with Retry-After, its id and the headers of every response", async () => {
  const headers = { "X-Request-ID": "mine-1" };
  const response = await shed(new Request("http://localhost/api/v1/buckets?x=/healthz", { headers }), INFO);
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), { detail: "Stackroom is overloaded, try again" });
  assert.deepEqual(Object.fromEntries(response.headers), {
    "cache-control": "private, no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "content-type": "application/json",
    "referrer-policy": "strict-origin-when-cross-origin",
    "retry-after": "1",
    "x-content-type-options": "nosniff",
    "x-request-id": "mine-1",
  });
  const other = await shed(new Request("http://localhost/", { headers: { "X-Request-ID": "not\tone" } }), INFO);
  assert.match(other.headers.get("X-Request-ID") ?? "", /^[0-9a-f]{32}$/);
});

Deno.test("shed load: a refused HEAD has no body, and the body of a refused upload is dropped", async () => {
  const head = await shed(new Request("http://localhost/k", { method: "HEAD" }), INFO);
  assert.deepEqual([head.status, head.body], [503, null]);
  const dropped = Promise.withResolvers<void>();
  const body = new ReadableStream({ cancel: () => dropped.resolve() });
  const upload = await shed(new Request("http://localhost/k", { method: "PUT", body }), INFO);
  assert.equal(upload.status, 503);
  await dropped.promise;
});

Deno.test("shed load: probes are handled", async () => {
  const probe = await shed(new Request("http://localhost/healthz?deep"), INFO);
  assert.equal(await probe.text(), "handled /healthz");
});

Deno.test("shed load: behind our proxies a client counts by its own address", async () => {
  const addresses: string[] = [];
  const shedder = {
    enter(_isRead: boolean, address: string) {
      addresses.push(address);
      return null;
    },
  };
  const headers = { "X-Forwarded-For": "198.51.100.1, 2001:db8:1:2:3::4" };
  for (const trustedHops of [0, 1]) {
    const shed = shedLoad(handler, { shedder, always: new Set(), trustedHops });
    await shed(new Request("http://localhost/", { headers }), INFO);
  }
  assert.deepEqual(addresses, ["192.0.2.7", "2001:db8:1:2::/64"]);
});

Deno.test("shed load: an admitted request leaves when it has its response, or fails", async () => {
  let inFlight = 0;
  const shedder = {
    enter() {
      inFlight++;
      return () => void inFlight--;
    },
  };
  const { promise, resolve } = Promise.withResolvers<Response>();
  const shed = shedLoad(({ method }) => method === "GET" ? promise : Promise.reject(new Error("a fault")), {
    shedder,
    always: new Set(),
    trustedHops: 0,
  });
  const first = shed(new Request("http://localhost/"), INFO);
  await assert.rejects(async () => await shed(new Request("http://localhost/", { method: "DELETE" }), INFO), /a fault/);
  assert.equal(inFlight, 1);
  resolve(new Response());
  await first;
  assert.equal(inFlight, 0);
});

/** What an admitted request costs the processor, and a refused one, ms. */
const REQUEST_MS = 1;
const REFUSAL_MS = 0.05;
const ADDRESS = "192.0.2.1";

/** An event loop without time of its own: each turn fires the timers that are due and handles what has come since. */
class Loop {
  now = 0;
  readonly changes: [isShedding: boolean, refused: number][] = [];
  /** From arrival to the end of the turn of each admitted request, ms. */
  readonly waits: number[] = [];
  refused = 0;
  readonly shedder = new LoadShedder({
    now: () => this.now,
    after: (ms, call) => this.timers.push({ at: this.now + ms, call }),
    onChange: (isShedding, refused) => this.changes.push([isShedding, refused]),
  });
  timers: { readonly at: number; readonly call: () => void }[] = [];

  /** Handles arrivals (ms) in their order, and further ones that `next` makes of the end of each that was handled. */
  run(arrivals: number[], next: (at: number) => number | null = () => null): void {
    for (let done = 0; done < arrivals.length;) {
      this.turn();
      const first = done;
      while (done < arrivals.length && arrivals[done] <= this.now) done++;
      const ready = arrivals.slice(first, done);
      const admitted = ready.flatMap((at) => {
        const leave = this.shedder.enter(true, ADDRESS);
        this.now += leave ? REQUEST_MS : REFUSAL_MS;
        return leave ? [{ at, leave }] : [];
      });
      this.refused += ready.length - admitted.length;
      for (const { at, leave } of admitted) {
        this.waits.push(this.now - at);
        leave();
      }
      arrivals.push(...ready.flatMap(() => next(this.now) ?? []));
      if (ready.length === 0) this.now = Math.min(arrivals[done], ...this.timers.map(({ at }) => at));
    }
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
function uploading(count: number): Loop {
  const loop = new Loop();
  for (let n = 0; n < count; n++) loop.shedder.enter(true, ADDRESS);
  loop.rest(20);
  return loop;
}

/** So many requests for each ms, evenly. */
function arrivals(from: number, ms: number, rate: number): number[] {
  return Array.from({ length: Math.round(ms * rate) }, (_, n) => from + n / rate);
}

function share(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];
}

Deno.test("load shedder: a long pause is no overload, nor are many clients that each wait for their responses", () => {
  const paused = new Loop();
  paused.run(arrivals(0, 1000, 0.5));
  paused.now += 300;
  paused.run(arrivals(1000, 9000, 0.5));
  assert.equal(paused.refused, 0);
  const clients = new Loop();
  clients.run(arrivals(0, 90, 1), (at) => at < 10_000 ? at : null);
  assert.equal(clients.refused, 0);
  assert.ok(clients.waits.length > 9000);
});

Deno.test("load shedder: one long computation among many uploads is no overload", () => {
  const loop = uploading(150);
  loop.now += 300;
  assert.ok(loop.shedder.enter(true, ADDRESS));
  loop.turn();
  assert.ok(loop.shedder.enter(true, ADDRESS));
  assert.equal(loop.shedder.figures.isShedding, false);
});

Deno.test("load shedder: many requests in one long turn are an overload", () => {
  const loop = uploading(150);
  const admitted = Array.from({ length: 300 }, () => {
    loop.now += REQUEST_MS;
    return loop.shedder.enter(true, ADDRESS);
  });
  assert.ok(admitted.includes(null));
  assert.ok(loop.shedder.figures.isShedding);
});

for (const times of [1.5, 3, 10]) {
  Deno.test(`load shedder: of ${times} times what can be handled, what is admitted waits little, and most of it is done`, () => {
    const loop = new Loop();
    loop.run(arrivals(0, 30_000, times / REQUEST_MS));
    const forRefusals = loop.refused * REFUSAL_MS;
    assert.ok(share(loop.waits, 0.5) < MAX_DELAY_MS, `median ${share(loop.waits, 0.5)}`);
    assert.ok(share(loop.waits, 0.97) < MAX_DELAY_MS * 1.5, `97 % ${share(loop.waits, 0.97)}`);
    const admittedMs = loop.waits.length * REQUEST_MS;
    assert.ok(admittedMs > 0.75 * (loop.now - forRefusals), `${admittedMs} in ${loop.now - forRefusals}`);
  });
}

Deno.test("load shedder: an overload is over when the event loop was not late for a second, and its refusals are counted", () => {
  const loop = new Loop();
  loop.run(arrivals(0, 2000, 3));
  assert.deepEqual(loop.changes, [[true, 0]]);
  loop.rest(1100);
  assert.deepEqual(loop.changes, [[true, 0], [false, loop.refused]]);
  assert.deepEqual(loop.shedder.figures, { isShedding: false, refused: loop.refused });
  assert.ok(loop.refused > 1000);
  loop.rest(1100);
  assert.deepEqual(loop.timers, [], "the delay is not measured while no request comes");
});

/** A loop in an overload, whose event loop is not late any more. */
function overloaded(): Loop {
  const loop = new Loop();
  loop.run(arrivals(0, 2000, 3));
  loop.rest(20);
  return loop;
}

/** How many of so many requests are handled. */
function handled(loop: Loop, count: number, isRead: boolean, address: string): number {
  return entered(loop, count, isRead, address).length;
}

function entered(loop: Loop, count: number, isRead: boolean, address: string): (() => void)[] {
  return Array.from({ length: count }, () => loop.shedder.enter(isRead, address)).filter((leave) => leave !== null);
}

Deno.test("load shedder: during an overload a few of each address are handled, however late the event loop is", () => {
  const loop = overloaded();
  loop.now += 500;
  let first: (() => void)[] = [];
  for (const address of ["192.0.2.3", "192.0.2.2"]) {
    assert.equal(handled(loop, 10, false, address), ALWAYS_OF_ADDRESS);
    first = entered(loop, 10, true, address);
    assert.equal(first.length, ALWAYS_OF_ADDRESS, "whatever uploads stall");
  }
  first[0]();
  assert.equal(handled(loop, 10, true, "192.0.2.2"), 1);
});

Deno.test("load shedder: during an overload reads and writes in flight are bounded, which does not keep it going", () => {
  const loop = overloaded();
  assert.equal(handled(loop, 100, true, ADDRESS), 32);
  assert.equal(handled(loop, 100, false, ADDRESS), 32);
  assert.equal(handled(loop, 100, true, "192.0.2.2"), ALWAYS_OF_ADDRESS);
  for (let n = 0; n < 300; n++) {
    loop.rest(5);
    loop.shedder.enter(true, ADDRESS);
  }
  assert.equal(loop.shedder.figures.isShedding, false);
});
