import assert from "node:assert/strict";
import { TransferStore } from "@/tests/lib/tasks/transfer_store.ts";
import { type Fixture, gatewayTest, s3Error, withGateway } from "@/tests/routes/gateway_fixture.ts";

const PATH = "/api/v1/buckets/letters/transfer";
const post = ({ call }: Fixture, body: unknown) => call(PATH, { method: "POST", body: JSON.stringify(body) });
const to = (prefix: string, bucket = "letters") => ({ bucket, prefix });

/** A gateway in front of a model of a store. */
async function withStore(keys: readonly string[], run: (fixture: Fixture, store: TransferStore) => Promise<void>) {
  const store = new TransferStore({ letters: keys, b: [] });
  await withGateway({}, async (fixture) => {
    fixture.answer((request, { target }) => store.respond(request.method, target, request.headers));
    await run(fixture, store);
  });
}

Deno.test("transfer: one object has its new key with the response, and the task can be read after that", () =>
  withStore(["x/1", "x/2"], async (fixture, store) => {
    const response = await post(fixture, { mode: "move", keys: ["x/1"], from: "x/1", to: to("x/new") });
    const body = await response.json();
    const { task_id, started_at: _s, updated_at: _u, ended_at, ...rest } = body;
    assert.equal(response.status, 202);
    const counts = { total: 1, done: 1, deleted: 1, skipped: 0, renamed: 0, failed: 0 };
    assert.deepEqual(rest, { mode: "move", status: "done", ...counts, errors: [] });
    assert.ok(ended_at);
    assert.deepEqual(Object.keys(store.contents("letters")), ["x/2", "x/new"]);
    assert.deepEqual(await (await fixture.call(`${PATH}/${task_id}`)).json(), body);
    const canceled = await fixture.call(`${PATH}/${task_id}/cancel`, { method: "POST" });
    assert.deepEqual(await canceled.json(), { task_id, status: "done" });
  }));

Deno.test("transfer: what lasts longer is processing, and cancelled between two objects", () =>
  withStore(["x/1"], async (fixture, store) => {
    const copying = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    fixture.answer(async (request, { target }) => {
      if (request.method === "PUT") {
        copying.resolve();
        await release.promise;
      }
      return store.respond(request.method, target, request.headers);
    });
    const started = await (await post(fixture, { mode: "copy", prefixes: ["x/"], from: "x/", to: to("", "b") })).json();
    assert.equal(started.status, "processing");
    await copying.promise;
    const path = `${PATH}/${started.task_id}`;
    assert.equal((await (await fixture.call(`${path}/cancel`, { method: "POST" })).json()).status, "canceling");
    release.resolve();
    const events = await (await fixture.call(path, { headers: { Accept: "text/event-stream" } })).text();
    const [, data] = /event: end\ndata: (.*)\n\n$/.exec(events) ?? [];
    const { status, done } = JSON.parse(data);
    assert.deepEqual([status, done], ["canceled", 1]);
  }));

Deno.test("transfer: places that keys cannot go to are 400 with a code, before anything is asked of the store", () =>
  withStore(["a/a/a/1"], async (fixture) => {
    const long = "é".repeat(510);
    for (
      const [body, status, code] of [
        [{ mode: "move", to: to("") }, 400, undefined],
        [{ mode: "move", keys: ["a"], from: "b", to: to("c") }, 400, undefined],
        [{ mode: "move", keys: ["a/"], from: "a/", to: to("") }, 400, undefined],
        [{ mode: "move", keys: ["a/1"], from: "a/", to: to("a/") }, 400, "transfer_same_place"],
        [{ mode: "copy", prefixes: ["a/"], to: to("a/b/") }, 400, "transfer_inside_itself"],
        // Stores that compare names without case have one bucket by both: the source would be deleted as its own copy.
        [{ mode: "move", keys: ["a/1"], to: to("", "LETTERS") }, 400, "transfer_same_place"],
        [{ mode: "copy", prefixes: ["a/"], to: to("a/b/", "Letters") }, 400, "transfer_inside_itself"],
        [{ mode: "copy", keys: ["b"], prefixes: ["a/"], to: to("a/") }, 400, "transfer_inside_itself"],
        [{ mode: "move", keys: ["a", "b/a"], to: to("b/") }, 400, "transfer_onto_itself"],
        [{ mode: "move", keys: [long], to: to("0123456789/") }, 400, "transfer_key_too_long"],
        [{ mode: "move", prefixes: [""], to: to("b/") }, 422, undefined],
        [{ mode: "rename", keys: ["a"], to: to("b") }, 422, undefined],
        [{ mode: "undo", keys: ["a"], since: "yesterday", until: "2026-11-01T00:00:00Z" }, 422, undefined],
      ] as const
    ) {
      const response = await post(fixture, body);
      const answer = await response.json();
      assert.deepEqual([response.status, answer.code], [status, code], JSON.stringify(body).slice(0, 80));
    }
    assert.equal(fixture.seen.length, 0);
    const upward = await post(fixture, { mode: "move", prefixes: ["a/a/"], from: "a/", to: to("") });
    assert.deepEqual([upward.status, (await upward.json()).code], [400, "transfer_onto_itself"]);
    fixture.answer(() => s3Error(404, "NoSuchBucket", "gone"));
    assert.equal((await post(fixture, { mode: "move", keys: ["a"], to: to("b/") })).status, 404);
  }));

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 1, 12, 0, seconds)).toISOString();

gatewayTest(
  "transfer: an undo removes the markers of its time below prefixes, and the newest ones of keys",
  async (fixture) => {
    const marker = (key: string, seconds: number, isLatest = true) =>
      `<DeleteMarker><Key>${key}</Key><VersionId>m-${key}</VersionId><IsLatest>${isLatest}</IsLatest>` +
      `<LastModified>${at(seconds)}</LastModified></DeleteMarker>`;
    const version = "<Version><Key>k2</Key><VersionId>v</VersionId><IsLatest>true</IsLatest><Size>1</Size></Version>";
    const removed: string[] = [];
    fixture.answer((request, { target, body }) => {
      const { searchParams } = new URL(target, "http://store");
      if (request.method === "POST") {
        removed.push(...[...String(body).matchAll(/<VersionId>(.*?)</g)].map(([, id]) => id));
        return new Response("<DeleteResult><Error><Key>p/2</Key><Code>AccessDenied</Code></Error></DeleteResult>");
      }
      if (!searchParams.has("versions")) return new Response("<ListBucketResult></ListBucketResult>");
      const prefix = searchParams.get("prefix");
      const found = prefix === "k1"
        ? marker("k1", 0)
        : prefix === "k2"
        ? version
        : marker("p/1", 30) + marker("p/2", 31) + marker("p/old", 0) + marker("p/not-latest", 30, false);
      return new Response(`<ListVersionsResult><IsTruncated>false</IsTruncated>${found}</ListVersionsResult>`);
    });
    const body = { mode: "undo", keys: ["k1", "k2"], prefixes: ["p/"], since: at(28), until: at(35) };
    const { status, total, done, failed, errors } = await (await post(fixture, body)).json();
    assert.deepEqual(removed, ["m-k1", "m-p/1", "m-p/2"]);
    assert.equal(status, "done");
    assert.deepEqual({ total, done, failed: failed > 0 }, { total: 3, done: 1, failed: true });
    assert.equal(errors.at(-1).Status, 403);
  },
);
