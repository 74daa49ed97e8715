import assert from "node:assert/strict";
import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { UpstreamError } from "@/lib/http/upstream/upstream_request.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import { type ClusterConnection, connect, type ConnectionLimits } from "@/lib/kubernetes/connection.ts";
import { type Faults, FaultyCluster } from "@/tests/embedded/cluster/faulty_cluster.ts";
import { untilHolds } from "@/tests/until.ts";

const LIMITS: ConnectionLimits = { connectMs: 5000, idleMs: 5000, totalMs: 5000, maxBytes: 1000 };

type Ask = (limits?: Partial<ConnectionLimits>, signal?: AbortSignal) => ReturnType<ClusterConnection["send"]>;

function asker(server: string): Ask {
  const agent = server.startsWith("https:") ? new SecureAgent() : new Agent();
  const credentials = () => Promise.resolve({ agent, headers: {} });
  return (limits, signal) =>
    connect({ server, credentials }, { now: Date.now, limits: { ...LIMITS, ...limits } })
      .send({ method: "GET", path: "/api", query: new URLSearchParams({ limit: "5" }), signal });
}

async function withServer(fault: Faults, use: (ask: Ask) => Promise<void>): Promise<void> {
  const cluster = new FaultyCluster();
  cluster.fault = fault;
  try {
    await use(asker(cluster.url));
  } finally {
    await cluster.stop();
  }
}

function failsWith(message: RegExp) {
  return (error: unknown) =>
    error instanceof ClusterUnavailable && error.cause instanceof Error && message.test(error.cause.message);
}

Deno.test("connection: a body beyond the limit is cancelled while it comes", async () => {
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

Deno.test("connection: the idle timeout ends a response that does not begin, and one that stops in the middle", async () => {
  await withServer(() => "hang", async (ask) => {
    await assert.rejects(ask({ idleMs: 50 }), failsWith(/upstream timeout/));
  });
  const stalled = () =>
    new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) }));
  await withServer(stalled, async (ask) => {
    // On a slow machine the head of the response may be late as well, which is the other failure.
    await untilHolds(() => assert.rejects(ask({ idleMs: 50 }), failsWith(/nothing for 50 ms/)));
  });
});

Deno.test("connection: the total timeout ends a response that drips for ever", async () => {
  const timers: ReturnType<typeof setInterval>[] = [];
  const dripping = () => {
    let drip: ReturnType<typeof setInterval> | undefined;
    const body = new ReadableStream({
      start(controller) {
        drip = setInterval(() => controller.enqueue(new Uint8Array(1)), 5);
        timers.push(drip);
      },
      cancel: () => clearInterval(drip),
    });
    return new Response(body);
  };
  try {
    await withServer(dripping, async (ask) => {
      // The total also bounds the wait for the head, whose failure is another one.
      await untilHolds(() => assert.rejects(ask({ totalMs: 100, idleMs: 5000 }), failsWith(/nothing for/)));
    });
  } finally {
    timers.forEach(clearInterval);
  }
});

Deno.test("connection: an aborted signal ends a request, also one aborted before", async () => {
  const arrived = Promise.withResolvers<void>();
  const hanging = () => {
    arrived.resolve();
    return "hang" as const;
  };
  await withServer(hanging, async (ask) => {
    const stop = new AbortController();
    const asked = ask({}, stop.signal);
    await arrived.promise;
    stop.abort();
    await assert.rejects(asked, failsWith(/upstream aborted/));
    await assert.rejects(ask({}, AbortSignal.abort()), failsWith(/upstream aborted/));
  });
});

Deno.test("connection: an aborted signal cancels a body that is still coming", async () => {
  const stop = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const unfinished = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(10));
          setTimeout(() => stop.abort());
        },
        cancel: () => cancelled.resolve(),
      }),
    );
  await withServer(unfinished, async (ask) => {
    await assert.rejects(ask({}, stop.signal), ClusterUnavailable);
    await cancelled.promise;
  });
});

Deno.test("connection: a connection that is not established in time is unavailable", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  // It accepts and does not begin TLS, so that the connection never stands.
  const accepting = listener.accept().catch(() => null);
  const ask = asker(`https://127.0.0.1:${listener.addr.port}`);
  await assert.rejects(ask({ connectMs: 50 }), failsWith(/upstream timeout/));
  // On a slow machine the time is over before there is a connection to accept.
  listener.close();
  (await accepting)?.close();
});

Deno.test("connection: one that is refused, reset or cut in the middle is unavailable", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const ask = asker(`http://127.0.0.1:${listener.addr.port}`);
  const cutting = (async () => {
    for (const answer of ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"]) {
      const connection = await listener.accept();
      await connection.read(new Uint8Array(1000));
      if (answer) await connection.write(new TextEncoder().encode(answer));
      connection.close();
    }
  })();
  await assert.rejects(ask(), ClusterUnavailable);
  await assert.rejects(ask(), ClusterUnavailable);
  await cutting;
  listener.close();
  await assert.rejects(
    ask(),
    (error) => error instanceof ClusterUnavailable && error.cause instanceof UpstreamError,
  );
});
