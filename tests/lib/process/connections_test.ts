import assert from "node:assert/strict";
import { Connections, DEFAULT_CONNECTION_LIMITS, type Handler } from "@/lib/process/connections.ts";
import { type DrainingServer, drainingServer } from "@/lib/process/listener.ts";
import { connectionServer, type ServeConnection, serveConnection } from "@/lib/runtime/http.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { open, readTo, text } from "./raw_connection.ts";

const hello: Handler = () => new Response("hello", { headers: { "Content-Length": "5" } });
const quick = { idleMs: 20, minBytesPerSecond: 1_000_000_000, slackMs: 20 };

Deno.test("connections: this runtime serves single connections, and one that cannot is detected", () => {
  assert.notEqual(serveConnection, null);
  assert.equal(connectionServer(null), null);
  assert.equal(connectionServer({}), null);
  assert.equal(connectionServer({ serveHttpOnConnection: (_: unknown) => {} }), null);
});

Deno.test("connections: one with half a head is closed in the end, others get responses meanwhile", async () => {
  await using site = start({ headMs: 300 });
  const halves = await Promise.all(Array.from({ length: 200 }, () => open(site, "GET / HTTP/1.1\r\nHost: x\r\nX: ")));
  const dripping = drip(halves[0]);
  assert.equal(await (await fetch(`http://127.0.0.1:${site.port}/`)).text(), "hello");
  for (const connection of halves) assert.equal(await text(connection), "");
  await dripping;
});

Deno.test("connections: one that sends no further request, or half of one, is closed in the end", async () => {
  // The clock goes on only once the response is there, so that a stall before is not taken for a slow client.
  using clock = new ManualClock();
  await using site = start({ idleMs: 100, responses: quick });
  const silent = await open(site, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const half = await open(site, "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /more");
  for (const connection of [silent, half]) {
    const response = await readTo(connection, /hello$/);
    assert.match(response + await clock.passDuring(20, text(connection)), /^HTTP\/1\.1 200 [^]*\r\n\r\nhello$/);
  }
});

Deno.test("connections: a response that is not read is broken off, whether it streams or not", async () => {
  const cancelled = Promise.withResolvers<void>();
  const size = 256 * 1024 * 1024;
  const stream = () =>
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
      cancel: () => cancelled.resolve(),
    });
  const handler: Handler = (request) => {
    const isStream = request.url.endsWith("/stream");
    const body = isStream ? stream() : new Uint8Array(32 * 1024 * 1024);
    return new Response(body, isStream ? { headers: { "Content-Length": String(size) } } : {});
  };
  await using site = start({ idleMs: 100, responses: quick }, handler);
  const connections = await Promise.all(
    ["/stream", "/piece"].map((path) => open(site, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)),
  );
  await cancelled.promise;
  // Only now is anything read: what the sockets held, and no whole answer.
  for (const connection of connections) assert.ok((await text(connection)).length < 32 * 1024 * 1024);
});

Deno.test("connections: an unread response is broken off after one that was read on the same connection", async () => {
  const cancelled = Promise.withResolvers<void>();
  const handler: Handler = (request) => {
    const isLong = request.url.endsWith("/long");
    let left = isLong ? Infinity : 1;
    const body = new ReadableStream({
      pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(64 * 1024)) : controller.close(),
      cancel: () => cancelled.resolve(),
    });
    return new Response(body, { headers: { "Content-Length": String((isLong ? 4096 : 1) * 64 * 1024) } });
  };
  await using site = start({ idleMs: 60_000, responses: quick }, handler);
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const connection = await open(site, ask("/short") + ask("/long"));
  await cancelled.promise;
  await text(connection);
});

Deno.test("connections: requests that share a connection hold no more than connections would", () => {
  const release = Promise.withResolvers<void>();
  let running = 0;
  const handler: Handler = async (request, info) => {
    running++;
    await release.promise;
    return hello(request, info);
  };
  const { add, requests, cuts } = table({ max: 8, maxPerAddress: 2 }, handler);
  assert.equal(add("1.1.1.1"), true);
  for (let n = 0; n < 3; n++) requests[0]();
  assert.deepEqual([running, cuts], [2, [0]]);
  release.resolve();
});

Deno.test("connections: a HEAD is over with its response, however it ends, and other requests when theirs is sent", async () => {
  let fails = false;
  const handler: Handler = (request, info) => {
    if (fails) throw new Error("a fault");
    return hello(request, info);
  };
  const { add, requests, cuts } = table({ max: 8, maxPerAddress: 1 }, handler);
  assert.equal(add("1.1.1.1"), true);
  await requests[0]("HEAD");
  fails = true;
  await assert.rejects(requests[0]("HEAD"));
  fails = false;
  await requests[0]("GET");
  assert.deepEqual(cuts, []);
  await requests[0]("HEAD");
  assert.deepEqual(cuts, [0]);
});

Deno.test("connections: one that sends nothing after a HEAD is closed in the end, or at once where the response says so", async () => {
  const ends: Handler = () => new Response(null, { headers: { Connection: "close" } });
  using clock = new ManualClock();
  await using idle = start({ idleMs: 100, responses: quick });
  await using site = start({ idleMs: 600_000 }, ends);
  for (const { port } of [idle, site]) {
    const connection = await open({ port }, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert.match(await readTo(connection, /\r\n\r\n$/), /^HTTP\/1\.1 200 /);
    if (port === idle.port) await clock.passDuring(20, text(connection));
    else await text(connection);
  }
});

Deno.test("connections: a handler breaks off the connection of a client that does not read", async () => {
  const handler: Handler = (_, info) => {
    let pieces = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (pieces++ === 0) return controller.enqueue(new TextEncoder().encode("some"));
          info.breakOff?.();
          return new Promise(() => {});
        },
      }),
    );
  };
  await using site = start({}, handler);
  assert.match(await text(await open(site, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")), /some\r\n$/);
});

Deno.test("connections: a request that takes long is not counted as late", async () => {
  const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handler: Handler = async (request, info) => {
    if (request.url.endsWith("/other")) return hello(request, info);
    entered.resolve();
    await release.promise;
    return hello(request, info);
  };
  using clock = new ManualClock();
  await using site = start({ headMs: 50, idleMs: 50, responses: quick }, handler);
  const long = await open(site, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const idle = await open(site, "GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
  // The other one is closed after its answer: the same look at all connections saw the long one and left it.
  await Promise.all([entered.promise, readTo(idle, /hello$/)]);
  await clock.passDuring(20, text(idle));
  release.resolve();
  await readTo(long, /hello$/);
  await clock.passDuring(20, text(long));
});

Deno.test("connections: no more are held than the limits allow, in all and from one address", async () => {
  const { add, ended, connections } = table({ max: 4, maxPerAddress: 2 });
  assert.deepEqual(["1.1.1.1", "1.1.1.1", "1.1.1.1"].map(add), [true, true, false]);
  assert.deepEqual(["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"].map(add), [
    true,
    true,
    false,
    false,
  ]);
  assert.equal(connections.count, 4);
  await ended(0);
  assert.equal(add("1.1.1.1"), true);
  await ended(1, 2, 3, 4);
  assert.equal(connections.count, 0);
});

Deno.test("connections: behind a proxy, one address has as many as there are", async () => {
  const { add, ended } = table({ max: 3, maxPerAddress: null });
  assert.deepEqual(Array.from({ length: 4 }, () => add("10.0.0.1")), [true, true, true, false]);
  await ended(0, 1, 2);
});

/** A table of connections that exist only here. */
function table(limits: { max: number; maxPerAddress: number | null }, handler = hello) {
  const ends: (() => void)[] = [];
  const requests: ((method?: string) => Promise<unknown>)[] = [];
  const cuts: number[] = [];
  const serve: ServeConnection = (_, answer) => {
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const index = ends.push(resolve) - 1;
    const info = { completed: new Promise<void>(() => {}) } as Deno.ServeHandlerInfo<Deno.NetAddr>;
    requests.push(async (method) => await answer(new Request("http://localhost/", { method }), info));
    return { finished, shutdown: () => Promise.resolve(), cut: () => void cuts.push(index) };
  };
  const connections = new Connections(serve, { ...DEFAULT_CONNECTION_LIMITS, ...limits }, handler);
  return {
    connections,
    /** Sends a request on the connection of an index. Its response is never sent to the end. */
    requests,
    /** The connections that were broken off. */
    cuts,
    /** Whether one from this address is taken. */
    add(hostname: string): boolean {
      let isOpen = true;
      const remoteAddr = { transport: "tcp", hostname, port: 1 };
      connections.add({ remoteAddr, close: () => isOpen = false } as unknown as Deno.TcpConn);
      return isOpen;
    },
    async ended(...indexes: number[]) {
      for (const index of indexes) ends[index]();
      await Promise.resolve();
    },
  };
}

function start(limits: Partial<typeof DEFAULT_CONNECTION_LIMITS>, handler = hello): DrainingServer & AsyncDisposable {
  const all = { ...DEFAULT_CONNECTION_LIMITS, ...limits };
  const server = drainingServer({ hostname: "127.0.0.1", port: 0, limits: all }, handler, hello);
  assert.ok(server.limitsConnections);
  return { ...server, [Symbol.asyncDispose]: () => server.drain() };
}

/** Sends a byte now and then until the other side has enough. */
async function drip(connection: Deno.TcpConn): Promise<void> {
  try {
    for (;;) {
      await connection.write(new Uint8Array([120]));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } catch {
    // It was closed.
  }
}
