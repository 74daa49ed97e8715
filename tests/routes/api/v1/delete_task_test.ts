import assert from "node:assert/strict";
import { type Fixture, gatewayTest, listing, s3Error } from "@/tests/routes/gateway_fixture.ts";

const PATH = "/api/v1/buckets/letters/objects/delete-task";
const post = ({ call }: Fixture, body: unknown) => call(PATH, { method: "POST", body: JSON.stringify(body) });

async function start(fixture: Fixture, body: unknown): Promise<string> {
  const response = await post(fixture, body);
  const { task_id, ...rest } = await response.json();
  assert.deepEqual([response.status, rest], [202, { status: "processing", total: 0, deleted: 0, failed: 0 }]);
  return task_id;
}

/** The last event of a task. */
async function endOf({ call }: Fixture, id: string): Promise<Record<string, unknown>> {
  const response = await call(`${PATH}/${id}`, { headers: { Accept: "application/json;q=0, text/event-stream" } });
  const [, data] = /event: end\ndata: (.*)\n\n$/.exec(await response.text()) ?? [];
  return JSON.parse(data);
}

gatewayTest("delete task: it counts, deletes and says what the store refused", async (fixture) => {
  fixture.answer((request) =>
    request.method === "GET"
      ? listing(["a/1", "a/2", "a/3"])
      : new Response("<DeleteResult><Error><Key>a/2</Key><Code>AccessDenied</Code></Error></DeleteResult>")
  );
  const id = await start(fixture, { prefixes: ["a/"] });
  const end = await endOf(fixture, id);
  const { started_at: _s, updated_at: _u, ended_at, ...rest } = end;
  assert.deepEqual(rest, {
    task_id: id,
    status: "done",
    total: 3,
    deleted: 2,
    failed: 1,
    errors: [{ Key: "a/2", Code: "AccessDenied", Message: null }],
  });
  assert.ok(ended_at);
  assert.deepEqual(await (await fixture.call(`${PATH}/${id}`)).json(), end);
  const canceled = await fixture.call(`${PATH}/${id}/cancel`, { method: "POST" });
  assert.deepEqual([canceled.status, await canceled.json()], [200, { task_id: id, status: "done" }]);
});

gatewayTest("delete task: cancelled before the first page it is canceled with 0 deleted", async (fixture) => {
  const counting = Promise.withResolvers<void>();
  fixture.answer(async (request, { target }) => {
    if (target.includes("max-keys=1&")) return listing(["a/1"]);
    if (request.method === "GET") {
      counting.resolve();
      await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
    }
    return new Response("<DeleteResult/>");
  });
  const id = await start(fixture, { prefixes: ["a/"] });
  await counting.promise;
  const canceled = await fixture.call(`${PATH}/${id}/cancel`, { method: "POST" });
  assert.deepEqual([canceled.status, await canceled.json()], [200, { task_id: id, status: "canceling" }]);
  const { status, deleted } = await endOf(fixture, id);
  assert.deepEqual([status, deleted], ["canceled", 0]);
  assert.ok(!fixture.seen.some(({ method }) => method === "POST"));
});

gatewayTest("delete task: a failed one is 502 with its error", async (fixture) => {
  let calls = 0;
  fixture.answer(() => calls++ === 0 ? listing([]) : s3Error(403, "SignatureDoesNotMatch", "no"));
  const id = await start(fixture, { keys: ["a"] });
  const { status, error } = await endOf(fixture, id);
  assert.equal(status, "failed");
  assert.match(String(error), /credentials.*log in again/);
  const poll = await fixture.call(`${PATH}/${id}`);
  const failure = { status: "failed", error, code: "task_login_refused" };
  assert.deepEqual([poll.status, await poll.json()], [502, { detail: failure }]);
});

gatewayTest(
  "delete task: without the right to delete it is 202, and the task says what the store rejected",
  async (fixture) => {
    const denied = "<Error><Key>a</Key><Code>AccessDenied</Code><Message>no</Message></Error>";
    fixture.answer(({ method }) =>
      method === "POST" ? new Response(`<DeleteResult>${denied}</DeleteResult>`) : listing(["a", "b"])
    );
    const some = await endOf(fixture, await start(fixture, { keys: ["a", "b"] }));
    assert.deepEqual([some.status, some.deleted, some.failed, some.errors], ["done", 1, 1, [
      { Key: "a", Code: "AccessDenied", Message: "no" },
    ]]);
    fixture.answer(({ method }) => method === "POST" ? s3Error(403, "AccessDenied", "no") : listing(["a", "b"]));
    const id = await start(fixture, { prefixes: ["a"] });
    const { status, deleted, error } = await endOf(fixture, id);
    assert.deepEqual([status, deleted], ["failed", 0]);
    assert.match(String(error), /^bucket 'letters': no\. The account, its password or its permissions/);
    assert.equal((await fixture.call(`${PATH}/${id}`)).status, 502);
  },
);

gatewayTest(
  "delete task: nothing to delete and an empty prefix without all are 400, an unknown task 404",
  async (fixture) => {
    for (
      const [body, status] of [
        [{}, 400],
        [{ keys: [], prefixes: null }, 400],
        [{ prefixes: [""] }, 400],
        [{ prefixes: ["a"], all: true }, 400],
        [{ keys: [""] }, 422],
        [{ prefixes: ["\ud800"] }, 422],
        [{ prefixes: Array.from({ length: 1001 }, (_, n) => `p${n}`) }, 422],
      ] as const
    ) {
      assert.equal((await post(fixture, body)).status, status, JSON.stringify(body).slice(0, 80));
    }
    assert.deepEqual((await (await post(fixture, {})).json()).detail, "Provide at least one prefix or key to delete");
    assert.equal(fixture.seen.length, 0);
    const unknown = await fixture.call(`${PATH}/d0d0d0d0-0000-4000-8000-000000000000/cancel`, { method: "POST" });
    assert.deepEqual([unknown.status, await unknown.json()], [404, { detail: "Task not found" }]);
    fixture.answer(() => s3Error(404, "NoSuchBucket", "gone"));
    const missing = await post(fixture, { prefixes: [""], all: true });
    assert.deepEqual([missing.status, await missing.json()], [404, { detail: "bucket 'letters': gone" }]);
  },
);

gatewayTest(
  "delete task: named keys need no right to list, prefixes that to list the first of them",
  async (fixture) => {
    fixture.answer((request) => request.method === "GET" ? listing([]) : new Response("<DeleteResult/>"));
    const seen = async (body: unknown) => {
      fixture.seen.length = 0;
      await endOf(fixture, await start(fixture, body));
      return fixture.seen.map(({ method, target }) =>
        `${method} ${new URLSearchParams(target.split("?")[1]).get("prefix")}`
      );
    };
    assert.deepEqual(await seen({ keys: ["k"] }), ["HEAD null", "POST null"]);
    assert.equal((await seen({ keys: ["k"], prefixes: ["a/", "b/"] }))[0], "GET a/");
    fixture.answer(() => s3Error(404, "NoSuchBucket", "absent"));
    for (const body of [{ keys: ["k"] }, { prefixes: ["a/"] }]) assert.equal((await post(fixture, body)).status, 404);
  },
);

gatewayTest("delete task: a key of more than 1024 bytes of UTF-8 is 422", async (fixture) => {
  const response = await post(fixture, { keys: ["k", "é".repeat(513)] });
  assert.equal(response.status, 422);
  assert.match(JSON.stringify(await response.json()), /1024 bytes/);
});
