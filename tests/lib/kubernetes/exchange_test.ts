import assert from "node:assert/strict";
import { Agent } from "node:http";
import { exchange, ExchangeError, type ExchangeLimits } from "@/lib/kubernetes/exchange.ts";

const LIMITS: ExchangeLimits = { connectMs: 5000, idleMs: 5000, totalMs: 5000, maxBytes: 1000 };

async function withServer(
  handler: (request: Request) => Response | Promise<Response>,
  use: (ask: (limits?: Partial<ExchangeLimits>, signal?: AbortSignal) => ReturnType<typeof exchange>) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {}, signal: stop.signal }, handler);
  const url = new URL(`http://127.0.0.1:${server.addr.port}/api?limit=5`);
  try {
    await use((limits, signal) =>
      exchange({ method: "GET", url, headers: { Accept: "application/json" }, agent: new Agent(), signal }, {
        ...LIMITS,
        ...limits,
      })
    );
  } finally {
    stop.abort();
    await server.finished;
  }
}

function failsWith(message: RegExp) {
  return (error: unknown) => error instanceof ExchangeError && message.test(error.message);
}

Deno.test("exchange: hands over status and whole body, and sends path, query and headers", async () => {
  let seen = "";
  const handler = (request: Request) => {
    seen = `${request.method} ${new URL(request.url).pathname}${new URL(request.url).search} ${
      request.headers.get("accept")
    }`;
    return new Response("åäö".repeat(100), { status: 410 });
  };
  await withServer(handler, async (ask) => {
    const { status, body } = await ask();
    assert.equal(status, 410);
    assert.equal(new TextDecoder().decode(body), "åäö".repeat(100));
    assert.equal(seen, "GET /api?limit=5 application/json");
  });
});

Deno.test("exchange: a body beyond the limit is refused while it comes", async () => {
  let cancelled = false;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(400)),
        cancel: () => {
          cancelled = true;
        },
      }),
    );
  await withServer(endless, async (ask) => {
    await assert.rejects(ask(), failsWith(/longer than 1000 bytes/));
  });
  assert.ok(cancelled);
});

Deno.test("exchange: a server that never answers, or stops in the middle, is silence", async () => {
  const pending = () => new Promise<Response>(() => {});
  await withServer(pending, async (ask) => {
    await assert.rejects(ask({ idleMs: 50 }), failsWith(/silence/));
  });
  const stalled = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) }));
  await withServer(stalled, async (ask) => {
    await assert.rejects(ask({ idleMs: 50 }), failsWith(/silence/));
  });
});

Deno.test("exchange: an answer that drips for ever ends at the limit for the whole", async () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const dripping = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          timer = setInterval(() => controller.enqueue(new Uint8Array(1)), 5);
        },
        cancel: () => clearInterval(timer),
      }),
    );
  await withServer(dripping, async (ask) => {
    await assert.rejects(ask({ totalMs: 100, idleMs: 5000 }), failsWith(/too long/));
  });
  clearInterval(timer);
});

Deno.test("exchange: an aborted signal ends it, also one aborted before", async () => {
  const arrived = Promise.withResolvers<void>();
  const hanging = () => {
    arrived.resolve();
    return new Promise<Response>(() => {});
  };
  await withServer(hanging, async (ask) => {
    const stop = new AbortController();
    const asked = ask({}, stop.signal);
    await arrived.promise;
    stop.abort();
    await assert.rejects(asked, failsWith(/nobody waits/));
    await assert.rejects(ask({}, AbortSignal.abort()), failsWith(/nobody waits/));
  });
});

Deno.test("exchange: a connection refused, reset or cut in the middle is an error of its own kind", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  const url = new URL(`http://127.0.0.1:${port}/`);
  const ask = () => exchange({ method: "GET", url, headers: {}, agent: new Agent() }, LIMITS);
  const cutting = (async () => {
    for (const answer of ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"]) {
      const connection = await listener.accept();
      await connection.read(new Uint8Array(1000));
      if (answer) await connection.write(new TextEncoder().encode(answer));
      connection.close();
    }
  })();
  await assert.rejects(ask(), ExchangeError);
  await assert.rejects(ask(), ExchangeError);
  await cutting;
  listener.close();
  await assert.rejects(ask(), ExchangeError);
});
