import assert from "node:assert/strict";
import { type Fixture, gatewayTest, listing, s3Error, SECRET, withGateway } from "@/tests/routes/gateway_fixture.ts";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";

const PATH = "/api/v1/buckets/letters/objects/s3_stats";

const numbered = (count: number, from: number) =>
  Array.from({ length: count }, (_, n) => `k${String(from + n).padStart(5, "0")}`);

/** Reads the events of a task until the last one. */
async function eventsOf({ call }: Fixture, path: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
  const response = await call(path, { headers: { Accept: "text/event-stream" } });
  assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
  return [...(await response.text()).matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event, data]) => ({
    event,
    data: JSON.parse(data),
  }));
}

async function start({ call }: Fixture, query = ""): Promise<string> {
  const response = await call(PATH + query, { method: "POST" });
  assert.equal(response.status, 202);
  const { task_id, ...rest } = await response.json();
  assert.match(task_id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(rest, { status: "counting", files: 0, folders: 0 });
  return task_id;
}

/** How a task of another login is seen. */
async function foreign({ origin }: Fixture, path: string): Promise<Response> {
  const claims = { sub: "curator", pwd: "another", tenant: "archive" };
  const token = await issueToken(claims, tokenKey(SECRET), {
    nowSeconds: Date.UTC(2026, 10, 20, 7, 31, 17) / 1000,
    lifetimeMinutes: 480,
  });
  return await fetch(origin + path, { headers: { Authorization: `Bearer ${token}` } });
}

gatewayTest("count task: two pages with a delimiter are 1500 files and 3 folders", async (fixture) => {
  fixture.answer((_, { target }) =>
    target.includes("continuation-token")
      ? listing(numbered(500, 1000), { prefixes: ["x/", "y/", "z/"] })
      : listing(numbered(1000, 0), { token: "next" })
  );
  const id = await start(fixture, "?prefix=&delimiter=/");
  const events = await eventsOf(fixture, `${PATH}/${id}`);
  assert.equal(events.at(-1)?.event, "end");
  const result = await (await fixture.call(`${PATH}/${id}`)).json();
  assert.deepEqual(events.at(-1)?.data, result);
  const { started_at, updated_at, ended_at, ...rest } = result;
  assert.deepEqual(rest, { task_id: id, status: "ready", files: 1500, folders: 3, bytes: 3000 });
  for (const time of [started_at, updated_at, ended_at]) assert.equal(new Date(time).toISOString(), time);
  const query = new URL(fixture.seen.at(-1)?.target ?? "", "http://x").searchParams;
  assert.deepEqual([query.get("delimiter"), query.has("fetch-owner")], ["/", false]);
});

gatewayTest("count task: a missing bucket is 404 at the start, and a failed count is a status", async (fixture) => {
  fixture.answer(() => s3Error(404, "NoSuchBucket", "gone"));
  const missing = await fixture.call(PATH, { method: "POST" });
  assert.deepEqual([missing.status, await missing.json()], [404, { detail: "bucket 'letters': gone" }]);
  let calls = 0;
  fixture.answer(() => calls++ === 0 ? listing([]) : s3Error(404, "NoSuchBucket", "gone"));
  const id = await start(fixture);
  const events = await eventsOf(fixture, `${PATH}/${id}`);
  const { status, error } = events.at(-1)?.data ?? {};
  assert.deepEqual([events.at(-1)?.event, status, error], ["end", "failed", "bucket 'letters': gone"]);
  const poll = await fixture.call(`${PATH}/${id}`);
  assert.deepEqual([poll.status, (await poll.json()).status], [200, "failed"]);
});

gatewayTest("count task: another login, another bucket and an unknown id are 404", async (fixture) => {
  fixture.answer(() => listing(["a"]));
  const id = await start(fixture);
  for (
    const response of [
      await foreign(fixture, `${PATH}/${id}`),
      await fixture.call(`/api/v1/buckets/other/objects/s3_stats/${id}`),
      await fixture.call(`/api/v1/buckets/letters/objects/delete-task/${id}`),
      await fixture.call(`${PATH}/d0d0d0d0-0000-4000-8000-000000000000`),
      ...await Promise.all(["x", "%ff", "%2f", "a%2fb", "%00", "%"].map((of) => fixture.call(`${PATH}/${of}`))),
      await fixture.call("/api/v1/buckets/letters/objects/download/%2f"),
      await fixture.call("/api/v1/buckets/letters/objects/delete-task/%ff/cancel", { method: "POST" }),
    ]
  ) assert.deepEqual([response.status, await response.json()], [404, { detail: "Task not found" }]);
});

gatewayTest("count task: a poll of credentials that were not proven lately asks the store first", async (fixture) => {
  fixture.answer((_, { target }) =>
    target.startsWith("/letters") ? listing(["a"]) : s3Error(403, "SignatureDoesNotMatch", "no")
  );
  assert.equal((await foreign(fixture, `${PATH}/d0d0d0d0-0000-4000-8000-000000000000`)).status, 401);
  assert.deepEqual(fixture.seen.map(({ target }) => target), ["/"]);
}, { proven: false });

Deno.test("count task: beyond the limit of a user it is 429 with Retry-After", () =>
  withGateway({ tasks: { bounds: { maxPerOwner: 1, maxPerTenant: 9, max: 9 } } }, async (fixture) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.answer(async (_, { target }) => {
      if (!target.includes("max-keys=1&")) await promise;
      return listing(["a"]);
    });
    const id = await start(fixture);
    const refused = await fixture.call(PATH, { method: "POST" });
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "10"]);
    assert.match((await refused.json()).detail, /^You have 1 background/);
    resolve();
    await eventsOf(fixture, `${PATH}/${id}`);
    await start(fixture);
  }));

gatewayTest("count task: a client that leaves its event stream ends it, and may have sixteen", async (fixture) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  fixture.answer(async (_, { target }) => {
    if (!target.includes("max-keys=1&")) await promise;
    return listing(["a"]);
  });
  const id = await start(fixture);
  const open = () => fixture.call(`${PATH}/${id}`, { headers: { Accept: "text/event-stream" } });
  const streams = await Promise.all(Array.from({ length: 16 }, open));
  const readers = streams.map(({ body }) => body?.getReader());
  for (const reader of readers) {
    assert.match(new TextDecoder().decode((await reader?.read())?.value), /^event: progress\n/);
  }
  assert.equal((await open()).status, 429);
  await readers[0]?.cancel();
  for (let response = await open();; response = await open()) {
    await response.body?.cancel();
    if (response.status === 200) break;
  }
  await Promise.all(readers.map((reader) => reader?.cancel()));
  resolve();
});
