import assert from "node:assert/strict";
import { readResultFile, type ResultsFetch } from "@/lib/campaigns/progress/result_file.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { IN_PROCESS_BASE, remoteResultsFetch } from "@/lib/results/results_service.ts";

const LIMITS = { timeoutMs: 5000, maxBytes: 64 * 1024 };

/** Serves the results, and reads them by `fetch` and as the web role does from another process. */
async function withResults(
  handler: (request: Request) => Response | Promise<Response>,
  use: (read: (timeoutMs?: number) => ReturnType<typeof readResultFile>) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {}, signal: stop.signal }, handler);
  const base = `http://127.0.0.1:${server.addr.port}/results`;
  const remote = remoteResultsFetch(base, upstreamClient({ verifyTls: true, timeoutMs: 60_000 }));
  const ways: [ResultsFetch, string][] = [[fetch, base], [remote, IN_PROCESS_BASE]];
  const viewer = { cookie: "results_session=token", signal: new AbortController().signal };
  try {
    for (const [send, start] of ways) {
      await use((timeoutMs = LIMITS.timeoutMs) =>
        readResultFile(send, `${start}/a/progress.json`, viewer, { ...LIMITS, timeoutMs })
      );
    }
  } finally {
    stop.abort();
    await server.finished;
  }
}

Deno.test("result file: the cookie and the wish for plain bytes arrive over a network", async () => {
  const seen: (string | null)[] = [];
  const handler = ({ url, headers }: Request) => {
    seen.push(new URL(url).pathname, headers.get("cookie"), headers.get("accept-encoding"));
    return new Response("{}");
  };
  await withResults(handler, async (read) => {
    assert.equal((await read()).status, 200);
  });
  const request = ["/results/a/progress.json", "results_session=token", "identity"];
  assert.deepEqual(seen, [...request, ...request]);
});

Deno.test("result file: a body up to the limit is whole, one byte more gives no body", async () => {
  for (const [length, taken] of [[0, 0], [64 * 1024, 64 * 1024], [64 * 1024 + 1, null]] as const) {
    await withResults(() => new Response(new Uint8Array(length)), async (read) => {
      const { status, body } = await read();
      assert.equal(status, 200);
      assert.equal(body?.length ?? null, taken);
    });
  }
});

Deno.test("result file: an endless body is cancelled at the limit", async () => {
  const cancelled = Promise.withResolvers<void>();
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)),
        cancel: () => cancelled.resolve(),
      }),
    );
  await withResults(endless, async (read) => {
    assert.deepEqual(await read(), { status: 200, body: null });
    await cancelled.promise;
  });
});

Deno.test("result file: a compressed body is never taken", async () => {
  const bomb = await new Response(
    new Blob([new Uint8Array(10 * 1024 * 1024)]).stream().pipeThrough(new CompressionStream("gzip")),
  ).bytes();
  const gzip = () => new Response(bomb, { headers: { "Content-Encoding": "gzip" } });
  await withResults(gzip, async (read) => {
    assert.deepEqual(await read(), { status: 200, body: null });
  });
});

Deno.test("result file: redirects and errors return their status without a body", async () => {
  for (const status of [302, 304, 403, 404, 500]) {
    const answer = () =>
      new Response(status === 304 ? null : "text", { status, headers: { Location: "http://127.0.0.1:1/" } });
    await withResults(answer, async (read) => {
      assert.deepEqual(await read(), { status, body: null });
    });
  }
});

Deno.test("result file: a missing response, a stalled body and a break have no status", async () => {
  await withResults(() => new Promise(() => {}), async (read) => {
    assert.deepEqual(await read(30), { status: null, body: null });
  });
  for (const headers of [[], [["Content-Length", "9"]]] satisfies [string, string][][]) {
    const body = () => new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(3)) });
    await withResults(() => new Response(body(), { headers }), async (read) => {
      assert.deepEqual(await read(60), { status: null, body: null });
    });
  }
  const broken = new ReadableStream({
    start(stream) {
      stream.enqueue(new Uint8Array(3));
    },
    pull(stream) {
      stream.error(new Error("broken"));
    },
  });
  const viewer = { cookie: "a=b", signal: new AbortController().signal };
  const send = () => Promise.resolve(new Response(broken));
  assert.deepEqual(await readResultFile(send, "http://results.test/", viewer, LIMITS), { status: null, body: null });
});
