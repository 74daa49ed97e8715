import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { Task, TaskStore } from "@/lib/tasks/task.ts";
import { steadyTime } from "@/lib/tasks/task_keys.ts";
import {
  type FakeAnswer,
  type Fixture,
  gatewayTest,
  listing,
  NOW,
  s3Error,
  withGateway,
} from "@/tests/routes/gateway_fixture.ts";
import { until } from "@/tests/until.ts";

const PATH = "/api/v1/buckets/letters/objects/download";
const SIZE = 2 ** 30;
const BYTES = new Uint8Array(64 * 1024);

/** A store of one long object, whose reads are counted while they are open. */
function longObject(open: Set<object>): FakeAnswer {
  return (request) => {
    if (new URL(request.url).search.includes("list-type=2")) {
      const entry = `<Contents><Key>film</Key><Size>${SIZE}</Size><ETag>&quot;e&quot;</ETag></Contents>`;
      return new Response(`<ListBucketResult><IsTruncated>false</IsTruncated>${entry}</ListBucketResult>`);
    }
    const read = {};
    open.add(read);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(BYTES.slice()),
      cancel: () => void open.delete(read),
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { etag: '"e"' } });
  };
}

async function started({ call }: Fixture, body: unknown): Promise<{ id: string; link: string }> {
  const answer = await call(PATH, { method: "POST", body: JSON.stringify(body) });
  assert.equal(answer.status, 202, await answer.clone().text());
  const { task_id, download_url } = await answer.json();
  return { id: task_id, link: download_url };
}

/** Waits until a task has ended, and returns its last poll. */
async function ended({ call }: Fixture, id: string): Promise<{ status: number; body: Record<string, unknown> }> {
  for (;;) {
    const answer = await call(`${PATH}/${id}`, { headers: { accept: "application/json" } });
    const body = await answer.json();
    if (body.status !== "processing") return { status: answer.status, body };
  }
}

Deno.test("zip task: a client that leaves ends the reads of the store and frees its download", async () => {
  const open = new Set<object>();
  await withGateway({}, async (fixture) => {
    fixture.answer(longObject(open));
    const { id, link } = await started(fixture, { prefix: "" });
    await ended(fixture, id);
    const download = () => fetch(fixture.origin + link);
    const downloads = await Promise.all([download(), download(), download(), download()]);
    assert.deepEqual(downloads.map(({ status }) => status), [200, 200, 200, 200]);
    assert.equal(open.size, 4);
    const fifth = await download();
    assert.deepEqual([fifth.status, fifth.headers.get("retry-after")], [503, "10"]);
    assert.equal(
      (await fifth.json()).detail,
      "You download 4 archives at a time, which is the limit: wait until one is there",
    );

    for (const { body } of downloads) await body?.cancel();
    await until("the reads of the store end", () => open.size === 0 || null);
    await until("a download is free", async () => {
      const again = await download();
      await again.body?.cancel();
      return again.status === 200 || null;
    });
  });
});

gatewayTest("zip task: a failed archive says so to each poll, in the form of the contract", async (fixture) => {
  fixture.answer((request) => {
    if (request.method === "HEAD" && request.url.endsWith("/letters")) return new Response(null);
    return request.method === "HEAD" ? new Response(null, { status: 403 }) : s3Error(403, "InvalidAccessKeyId", "no");
  });
  const { id, link } = await started(fixture, { keys: ["a"] });
  const { status, body } = await ended(fixture, id);
  assert.equal(status, 500);
  const detail = body.detail as Record<string, unknown>;
  assert.deepEqual([detail.status, detail.failed_keys, typeof detail.error], ["failed", [], "string"]);
  const linked = await fetch(fixture.origin + link);
  assert.deepEqual([linked.status, await linked.json()], [500, body]);
});

Deno.test("zip task: a ticket expires a day after its archive was started", async () => {
  let now = NOW;
  await withGateway({ app: { now: () => now } }, async (fixture) => {
    fixture.answer(longObject(new Set()));
    const { id } = await started(fixture, { prefix: "" });
    const { body } = await ended(fixture, id);
    const link = fixture.origin + body.download_url;
    // Tickets expire by the clock of the store of tasks.
    now = Date.now();
    assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
    now += 86_401_000;
    const late = await fetch(link);
    assert.deepEqual([late.status, await late.json()], [403, {
      detail: "The link of the archive has expired: start the archive again",
    }]);
  });
});

gatewayTest("zip task: its progress comes as events, whose last one says that it is ready", async (fixture) => {
  fixture.answer(longObject(new Set()));
  const { id } = await started(fixture, { prefix: "" });
  const events = await fixture.call(`${PATH}/${id}`, { headers: { accept: "text/event-stream" } });
  assert.deepEqual([events.status, events.headers.get("content-type")], [200, "text/event-stream"]);
  const [, data] = /event: end\ndata: (.*)\n\n$/.exec(await events.text()) ?? [];
  const end = JSON.parse(data);
  assert.deepEqual([end.task_id, end.status, end.total], [id, "ready", 1]);
  assert.match(end.download_url, /\?ticket=/);
});

gatewayTest("zip task: a key that no object can have is 422 and named", async (fixture) => {
  fixture.answer(() => new Response(null));
  const post = (keys: string[]) => fixture.call(PATH, { method: "POST", body: JSON.stringify({ keys }) });
  const longest = "å".repeat(512);
  const answer = await post(["a", `${longest}a`]);
  assert.equal(answer.status, 422);
  assert.deepEqual((await answer.json()).detail[0].loc, ["body", "keys", 1]);
  assert.equal((await post(["a", longest])).status, 202);
});

Deno.test("zip task: each status of a poll and of a download is named in the document", async () => {
  const sqlite = new SqliteTaskStore(":memory:", steadyTime());
  let change: Partial<Task> = {};
  const changed = async (id: string) => {
    const task = await sqlite.get(id);
    return task && { ...task, ...change };
  };
  const store = new Proxy<TaskStore>(sqlite, {
    get: (target, name: keyof TaskStore) => name === "get" ? changed : target[name].bind(target),
  });
  await withGateway({ tasks: { store } }, async (fixture) => {
    fixture.answer(longObject(new Set()));
    const { paths } = await (await fetch(`${fixture.origin}/openapi.json`)).json();
    const { id, link } = await started(fixture, { prefix: "" });
    await ended(fixture, id);
    const cases: [change: Partial<Task>, poll: number, download: number][] = [
      [{ progress: '{"of":"another version"}' }, 410, 404],
      [{ state: "failed", error: "gone" }, 500, 500],
      [{ state: "running" }, 200, 503],
    ];
    for (const [of, poll, download] of cases) {
      change = of;
      const template = "/api/v1/buckets/{bucket}/objects/download/{task_id}";
      const polled = await fixture.call(`${PATH}/${id}`);
      const linked = await fetch(fixture.origin + link);
      const head = await fetch(fixture.origin + link, { method: "HEAD" });
      assert.deepEqual([polled.status, linked.status, head.status], [poll, download, download]);
      await Promise.all([polled.body?.cancel(), linked.body?.cancel()]);
      assert.ok(paths[template].get.responses[poll], `poll ${poll}`);
      for (const method of ["get", "head"]) {
        assert.ok(paths[`${template}/file`][method].responses[download], `${method} ${download}`);
      }
    }
  });
});

gatewayTest(
  "zip task: the listing of a prefix reads no owners, and one that does not advance is 502",
  async (fixture) => {
    const post = () => fixture.call(PATH, { method: "POST", body: JSON.stringify({ prefix: "" }) });
    fixture.answer((_, { target }) =>
      listing(["a", "b"], { token: target.includes("continuation-token") ? null : "next" })
    );
    const { total } = await (await post()).json();
    assert.equal(total, 4);
    const queries = fixture.seen.map(({ target }) => new URL(target, "http://store").searchParams);
    assert.deepEqual(queries.map((query) => [query.get("continuation-token"), query.has("fetch-owner")]), [
      [null, false],
      ["next", false],
    ]);
    for (const isTruncated of ["<NextContinuationToken>same</NextContinuationToken>", ""]) {
      const page = `<IsTruncated>true</IsTruncated>${isTruncated}<Contents><Key>a</Key><Size>1</Size></Contents>`;
      fixture.answer(() => new Response(`<ListBucketResult>${page}</ListBucketResult>`));
      const stuck = await post();
      assert.deepEqual([stuck.status, await stuck.json()], [502, {
        detail: "bucket 'letters': the store's listing does not advance",
        code: "listing_stuck",
        params: { bucket: "letters" },
      }]);
    }
  },
);

gatewayTest("zip task: too many objects and too long keys are 400 as soon as a page shows it", async (fixture) => {
  const post = async (name: (number: number) => string = String) => {
    let pages = 0;
    // Without an end: only the bounds end it.
    fixture.answer(() => {
      const keys = Array.from({ length: 1000 }, (_, at) => name(1000 * pages + at));
      return listing(keys, { token: `${++pages}` });
    });
    const answer = await fixture.call(PATH, { method: "POST", body: JSON.stringify({ prefix: "" }) });
    return { answer: [answer.status, (await answer.json()).detail], pages };
  };
  // The next page is read while one is added.
  assert.deepEqual(await post(), { answer: [400, "Too many objects (51000). Maximum is 50000."], pages: 52 });
  // A kilobyte that cannot be compressed to less than three quarters.
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(768))).toString("base64url");
  const { answer, pages } = await post(random);
  assert.deepEqual(answer, [400, "The keys of the objects are too long for one archive: choose fewer"]);
  assert.ok(pages < 30, `${pages} pages`);
});
