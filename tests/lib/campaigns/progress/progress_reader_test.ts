import assert from "node:assert/strict";
import v8 from "node:v8";
import vm from "node:vm";
import {
  type ProgressReader,
  progressReader,
  type ProgressViewer,
  type ReadLimits,
  readResultFile,
  type ResultsFetch,
  SharedAnswers,
} from "@/lib/campaigns/progress/progress_reader.ts";
import { judgeAnswer } from "@/lib/campaigns/projection/progress.ts";
import type { VolumeState } from "@/lib/campaigns/projection/types.ts";
import { readVolumes } from "@/lib/campaigns/projection/volumes.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { IN_PROCESS_BASE, remoteResultsFetch } from "@/lib/results/results_service.ts";
import { until } from "@/tests/until.ts";

const RUN = { namespace: "batch-default", pipeline: "lion-v2", run: "run-1" };
const ANNA: ProgressViewer = { digest: "anna", cookie: "results_session=anna" };

/** A results store that responds by path, and its requests. */
function results(answer: (path: string, request: Request) => Response | Promise<Response>) {
  const asked: string[] = [];
  let under = 0;
  let most = 0;
  const send: ResultsFetch = async (url, options) => {
    // As `fetch` does, it throws for a header that cannot be sent.
    const request = new Request(url, options);
    const path = new URL(url).pathname;
    asked.push(path);
    most = Math.max(most, ++under);
    try {
      // Responses come later, as over a network.
      await Promise.resolve();
      return await answer(path, request);
    } finally {
      under--;
    }
  };
  return { send, asked, most: () => most };
}

function reader(send: ResultsFetch, limits: Partial<ReadLimits> = {}, now: () => number = () => 0) {
  return progressReader({ send, base: "http://results.test/results/", now, sessionMs: 3_600_000, limits });
}

type Wanted = readonly [run: Parameters<ProgressReader["read"]>[0], wanted: number[]];

function wanted(state: VolumeState, ...ids: string[]): Wanted {
  return inStates(ids.map((id) => [id, state]));
}

function inStates(volumes: readonly (readonly [id: string, state: VolumeState])[]): Wanted {
  const ids = volumes.map(([id]) => id);
  const run = { ...RUN, volumes: readVolumes(ids.join("\n")), states: volumes.map(([, state]) => state) };
  return [run, [...ids.keys()]];
}

function many(count: number, state: VolumeState): Wanted {
  return wanted(state, ...Array.from({ length: count }, (_, index) => `v${index}`));
}

const pages = (done: number) => Response.json({ pages_total: 10, pages_done: done });

Deno.test("progress: the file is requested under the internal base with only the session's cookie", async () => {
  let seen: Request | undefined;
  const { send, asked } = results((_path, request) => {
    seen = request;
    return pages(4);
  });
  const answers = await reader(send).read(...wanted("active", "R 1/å'*"), ANNA);
  assert.deepEqual(asked, ["/results/batch-default/lion-v2/R%201%2F%C3%A5%27%2A/progress.json"]);
  assert.equal(answers.get(0)?.progress?.done, 4);
  assert.equal(seen?.headers.get("cookie"), "results_session=anna");
  assert.equal(seen?.headers.get("accept-encoding"), "identity");
  assert.equal(seen?.redirect, "manual");
  assert.deepEqual([...seen?.headers.keys() ?? []].sort(), ["accept", "accept-encoding", "cookie"]);
});

Deno.test("progress: manifest.json is read only for a done or unknown volume without a usable progress.json", async () => {
  const { send, asked } = results((path) =>
    path.endsWith("manifest.json")
      ? Response.json({ pages: 2, results: { a: { status: "ok" }, b: { status: "failed" } } })
      : new Response(null, { status: 404 })
  );
  const states: VolumeState[] = ["done", "unknown", "failed", "active"];
  const answers = await reader(send).read(...inStates(states.map((state) => [state, state])), ANNA);
  assert.deepEqual(asked.filter((path) => path.endsWith("manifest.json")).map((path) => path.split("/")[4]).sort(), [
    "done",
    "unknown",
  ]);
  assert.deepEqual([0, 1, 2, 3].map((index) => answers.get(index)?.progress?.total), [2, 2, undefined, undefined]);
  assert.ok([0, 1, 2, 3].every((index) => answers.get(index)?.answered));
});

Deno.test("progress: a 403 counts as answered without a fallback, also a 403 of the fallback", async () => {
  const { send, asked } = results((path) =>
    new Response(null, { status: path.includes("/a/") || path.endsWith("manifest.json") ? 403 : 404 })
  );
  const answers = await reader(send).read(...wanted("done", "a", "b"), ANNA);
  assert.deepEqual([...answers.values()].map(({ forbidden }) => forbidden), [true, true]);
  assert.equal(asked.filter((path) => path.includes("/a/")).length, 1);
});

Deno.test("progress: at most 100 reads, in order, fallbacks among them; what is cached costs nothing", async () => {
  const { send, asked } = results((path) => path.endsWith("manifest.json") ? new Response("{}") : pages(1));
  const progress = reader(send);
  const first = await progress.read(...many(250, "done"), ANNA);
  assert.equal(asked.length, 100);
  assert.deepEqual([...first.keys()].sort((a, b) => a - b), Array.from({ length: 100 }, (_, index) => index));
  const second = await progress.read(...many(250, "done"), ANNA);
  assert.deepEqual([asked.length, second.size], [200, 200]);
  const third = await progress.read(...many(250, "done"), ANNA);
  assert.deepEqual([asked.length, third.size], [250, 250]);

  const old = results((path) => new Response(path.endsWith("manifest.json") ? '{"pages":1,"results":{}}' : "{}"));
  const halved = await reader(old.send).read(...many(101, "done"), ANNA);
  assert.equal(old.asked.length, 100);
  assert.ok(halved.size <= 50);
  assert.ok([...halved.values()].every(({ progress }) => progress?.total === 1));
});

Deno.test("progress: reads go side by side, but not too many at once", async () => {
  const gate = Promise.withResolvers<void>();
  const { send, asked, most } = results(async () => {
    if (asked.length === 16) gate.resolve();
    await gate.promise;
    return pages(1);
  });
  await reader(send).read(...many(60, "active"), ANNA);
  assert.equal(asked.length, 60);
  assert.equal(most(), 16);
});

Deno.test("progress: reads of a store that does not respond are cancelled after the time for all reads", async () => {
  const { send, asked } = results(() => new Promise(() => {}));
  const limits = { totalMs: 60, atOnce: 2, file: { timeoutMs: 20, maxBytes: 1000 } };
  const answers = await reader(send, limits).read(...many(1000, "active"), ANNA);
  assert.equal(answers.size, 0);
  assert.ok(asked.length >= 2 && asked.length <= 8, String(asked.length));
});

Deno.test("progress: the time for all reads also ends those under way", async () => {
  const signals: AbortSignal[] = [];
  const { send } = results((_path, request) => {
    signals.push(request.signal);
    return new Promise(() => {});
  });
  const limits = { totalMs: 30, file: { timeoutMs: 60_000, maxBytes: 1000 } };
  assert.equal((await reader(send, limits).read(...many(5, "active"), ANNA)).size, 0);
  assert.ok(signals.length === 5 && signals.every(({ aborted }) => aborted));
});

Deno.test("progress: no more files are read once the request is cancelled", async () => {
  const stop = new AbortController();
  const { send, asked } = results(() => {
    stop.abort();
    return pages(1);
  });
  await reader(send, { atOnce: 1 }).read(...many(50, "active"), { ...ANNA, signal: stop.signal });
  assert.equal(asked.length, 1);
  await reader(send).read(...many(50, "active"), { ...ANNA, signal: AbortSignal.abort() });
  assert.equal(asked.length, 1);
});

Deno.test("progress: results are cached five seconds for a running volume, an hour for an ended one", async () => {
  const cases: [VolumeState, number, () => Response][] = [
    ["active", 5_000, () => pages(1)],
    ["active", 5_000, () => new Response(null, { status: 403 })],
    ["active", 5_000, () => new Response(null, { status: 404 })],
    ["done", 3_600_000, () => pages(1)],
    ["failed", 3_600_000, () => new Response(null, { status: 404 })],
    ["failed", 3_600_000, () => new Response("no JSON")],
    ["unknown", 3_600_000, () => new Response(null, { status: 403 })],
  ];
  for (const [state, lifetime, answer] of cases) {
    let now = 0;
    const { send, asked } = results(answer);
    const progress = reader(send, {}, () => now);
    const ask = async () => {
      asked.length = 0;
      const answers = await progress.read(...wanted(state, "a"), ANNA);
      assert.equal(answers.get(0)?.answered, true);
      return asked.length;
    };
    assert.equal(await ask(), 1);
    now = lifetime - 1;
    assert.equal(await ask(), 0, `${state} before ${lifetime}`);
    now = lifetime;
    assert.equal(await ask(), 1, `${state} at ${lifetime}`);
  }
});

Deno.test("progress: a missing response of the store is not cached", async () => {
  for (const status of [401, 408, 429, 500, 502, 503]) {
    const { send, asked } = results(() => new Response(null, { status }));
    const progress = reader(send);
    for (const expected of [1, 2]) {
      assert.equal((await progress.read(...wanted("failed", "a"), ANNA)).size, 0);
      assert.equal(asked.length, expected, String(status));
    }
  }
});

Deno.test("progress: what was read of a running volume, or of another run, is not shown for its ending", async () => {
  const { send, asked } = results(() => pages(1));
  const progress = reader(send);
  await progress.read(...wanted("active", "a"), ANNA);
  await progress.read(...wanted("done", "a"), ANNA);
  const [run, indexes] = wanted("done", "a");
  await progress.read({ ...run, run: "run-2" }, indexes, ANNA);
  assert.equal(asked.length, 3);
});

Deno.test("progress: a volume listed twice is read once, and ids with dot segments are not requested", async () => {
  const { send, asked } = results(() => pages(3));
  const answers = await reader(send).read(...wanted("active", "a", "..", "a", ".", "__proto__"), ANNA);
  assert.deepEqual(asked.map((path) => path.split("/")[4]), ["a", "__proto__"]);
  assert.deepEqual([0, 1, 2, 3, 4].map((index) => answers.get(index)?.progress?.done), [3, undefined, 3, undefined, 3]);
  assert.equal(answers.get(1)?.answered, true);
});

Deno.test("progress: a cookie that is no header value, and a sender that throws, have no status", async () => {
  const { send } = results(() => pages(1));
  assert.equal((await reader(send).read(...wanted("active", "a"), { digest: "x", cookie: "a\nb" })).size, 0);
  const throwing = reader(() => {
    throw new Error("away");
  });
  assert.equal((await throwing.read(...wanted("active", "a"), ANNA)).size, 0);
});

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

const bytes = (text: string) => new TextEncoder().encode(text);
const TWO = '{"pages_total":2,"pages_done":1}';

Deno.test("shared answers: the same bytes mean the same object, other bytes and the other file another one", () => {
  const shared = new SharedAnswers();
  const answer = shared.judge("progress", 200, bytes(TWO));
  assert.equal(answer.progress?.total, 2);
  assert.equal(shared.judge("progress", 200, bytes(TWO)), answer);
  assert.deepEqual(answer, judgeAnswer("progress", 200, bytes(TWO)));
  assert.equal(shared.judge("progress", 200, bytes('{"pages_total":3}')).progress?.total, 3);
  assert.equal(shared.judge("manifest", 200, bytes(TWO)).progress, null);
  assert.equal(shared.size, 2);
});

Deno.test("shared answers: one that is no longer used leaves memory", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect: () => void = vm.runInNewContext("gc");
  const shared = new SharedAnswers();
  const used = shared.judge("progress", 200, bytes('{"pages_total":7}'));
  (() => {
    for (let total = 0; total < 100; total++) shared.judge("progress", 200, bytes(`{"pages_total":1${total}}`));
  })();
  assert.equal(shared.size, 101);
  await until("all others are collected", () => {
    collect();
    return shared.size === 1 || null;
  });
  assert.equal(shared.judge("progress", 200, bytes('{"pages_total":7}')), used);
});
