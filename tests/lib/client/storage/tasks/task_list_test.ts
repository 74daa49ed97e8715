import assert from "node:assert/strict";
import fc from "fast-check";

import { type ShownTask, TaskList } from "@/lib/client/storage/tasks/task_list.ts";
import { NEW_TASK, OUTDATED, type TransferTaskPlan } from "@/lib/presentation/storage/task_record.ts";
import { HeldClock, settled } from "@/tests/lib/client/held_clock.ts";
import { FakeStore, MemoryTasks, type SeenCall } from "./fake_store.ts";

type Alone = ConstructorParameters<typeof TaskList>[0]["alone"];

/** Pages of a browser, one after the other: they share the store and the journal. */
class Browser {
  readonly journal = new MemoryTasks();
  readonly clock = new HeldClock();

  constructor(readonly store: FakeStore) {}

  page(call = this.store.call, alone: Alone = (_name, _wait, work) => work()): TaskList {
    return new TaskList({
      account: "archive/curator",
      call,
      journal: this.journal,
      clock: this.clock,
      random: () => 0.5,
      alone,
      onEnd() {},
    });
  }
}

const move = (part: Partial<TransferTaskPlan> = {}): TransferTaskPlan => ({
  kind: "move",
  place: { bucket: "a", prefix: "" },
  name: "x/",
  rows: 1,
  to: { bucket: "a", prefix: "" },
  isRename: true,
  steps: [{ kind: "folder", from: "x/", to: "y/" }],
  onTaken: "skip",
  objects: 3,
  ...part,
});

const KEYS = ["x/1", "x/2", "x/3"];
const MOVED = ["y/1", "y/2", "y/3"];
const isCopy = ({ operation }: SeenCall) => operation.endsWith("/copy");

async function ended(task: ShownTask, clock: HeldClock) {
  for (let turns = 0; task.state.peek().end === null; turns++) {
    assert.ok(turns < 500, "the task does not end");
    await clock.pass(60);
  }
  return task.state.peek();
}

Deno.test("move: each object is copied, then deleted, and counted", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  const { end, done, deleted, total } = await ended(browser.page().start(move()), browser.clock);
  assert.deepEqual({ end, done, deleted, total }, { end: { how: "done" }, done: 3, deleted: 3, total: 3 });
  assert.deepEqual(browser.store.keys("a"), MOVED);
});

Deno.test("copy to another bucket: the sources stay, and folders of a thousand keys are read by pages", async () => {
  const keys = Array.from({ length: 1050 }, (_, n) => `x/${String(n).padStart(4, "0")}`);
  const browser = new Browser(new FakeStore({ a: [...keys, "one"], b: [] }));
  const steps = [{ kind: "object", from: "one", to: "one" }, { kind: "folder", from: "x/", to: "x/" }] as const;
  const plan = move({ kind: "copy", to: { bucket: "b", prefix: "" }, steps, objects: null });
  const { done } = await ended(browser.page().start(plan), browser.clock);
  assert.equal(done, 1051);
  assert.deepEqual(browser.store.keys("b"), ["one", ...keys]);
  assert.equal(browser.store.keys("a").length, 1051);
});

Deno.test("move: a source stays where its copy or its deletion fails, and the others go", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  browser.store.fault = ({ operation, method, key }) =>
    operation.endsWith("/copy") && key === "y/1" ? 409 : method === "DELETE" && key === "x/2" ? 403 : null;
  const { end, done, deleted, failed, faults } = await ended(browser.page().start(move()), browser.clock);
  assert.deepEqual({ end, done, deleted, failed }, { end: { how: "done" }, done: 2, deleted: 1, failed: 2 });
  assert.deepEqual(faults.map(({ key, status }) => [key, status]), [["x/1", 409], ["x/2", 403]]);
  assert.deepEqual(browser.store.keys("a"), ["x/1", "x/2", "y/2", "y/3"]);
});

Deno.test("move: an object whose new name is in use stays, unless it is the same or is to be replaced", async () => {
  const make = () => {
    const browser = new Browser(new FakeStore({ a: [...KEYS, "y/1", "y/2"] }));
    browser.store.buckets.get("a")?.set("y/2", "bytes of x/2");
    return browser;
  };
  const skipping = make();
  const { done, deleted, skipped } = await ended(skipping.page().start(move()), skipping.clock);
  assert.deepEqual({ done, deleted, skipped }, { done: 2, deleted: 2, skipped: 1 });
  assert.deepEqual(skipping.store.keys("a"), ["x/1", ...MOVED]);
  assert.equal(skipping.store.buckets.get("a")?.get("y/1"), "bytes of y/1");
  const replacing = make();
  await ended(replacing.page().start(move({ onTaken: "replace" })), replacing.clock);
  assert.deepEqual(replacing.store.keys("a"), MOVED);
  assert.equal(replacing.store.buckets.get("a")?.get("y/1"), "bytes of x/1");
});

const CONDITIONS = [
  "if-none-match /buckets/:bucket/objects/:key/copy",
  "x-amz-copy-source-if-match /buckets/:bucket/objects/:key/copy",
  "if-match /buckets/:bucket/objects/:key",
];

/** A page that moves `x/1` to another bucket; `race` happens just before the call that it is for, once. */
async function racing(
  race: (call: SeenCall, store: FakeStore) => boolean,
  { onTaken = "skip", unsupported = [] }: { onTaken?: TransferTaskPlan["onTaken"]; unsupported?: string[] } = {},
) {
  const browser = new Browser(new FakeStore({ a: ["x/1"], b: [] }));
  let isOver = false;
  browser.store.unsupported = unsupported;
  browser.store.fault = (call) => {
    isOver ||= race(call, browser.store);
    return null;
  };
  const steps = [{ kind: "object", from: "x/1", to: "y" }] as const;
  const plan = move({ to: { bucket: "b", prefix: "" }, steps, onTaken, objects: 1 });
  const state = await ended(browser.page().start(plan), browser.clock);
  assert.ok(isOver);
  const { buckets } = browser.store;
  return { ...state, a: Object.fromEntries(buckets.get("a") ?? []), b: Object.fromEntries(buckets.get("b") ?? []) };
}

const overwritten = (store: FakeStore) => Boolean(store.buckets.get("a")?.set("x/1", "newer"));

Deno.test("move: a source that is overwritten after its copy stays", async () => {
  for (const unsupported of [[], CONDITIONS.slice(2)]) {
    // Without the condition, the source is looked up again before it is deleted.
    const at = (call: SeenCall, { calls }: FakeStore) =>
      unsupported.length === 0 ? call.method === "DELETE" : call.method === "GET" && calls.some(isCopy);
    const { a, b, done, deleted, failed, faults } = await racing(
      (call, store) => at(call, store) && overwritten(store),
      { unsupported },
    );
    assert.deepEqual([a, b], [{ "x/1": "newer" }, { y: "bytes of x/1" }]);
    assert.deepEqual({ done, deleted, failed }, { done: 1, deleted: 0, failed: 1 });
    assert.deepEqual(faults, [{ key: "x/1", status: 412, message: "" }]);
  }
});

Deno.test("move: of a source that is overwritten before its copy, the newer one is moved; one that goes on changing stays", async () => {
  const once = await racing((call, store) => isCopy(call) && overwritten(store));
  assert.deepEqual([once.a, once.b, once.deleted, once.failed], [{}, { y: "newer" }, 1, 0]);
  let writes = 0;
  const always = await racing((call, { buckets }) => {
    if (isCopy(call)) buckets.get("a")?.set("x/1", `write ${++writes}`);
    return writes === 3;
  });
  assert.deepEqual([always.a, always.b, always.failed], [{ "x/1": "write 3" }, {}, 1]);
});

Deno.test("move: an object that comes to the new name meanwhile is replaced only if that was chosen", async () => {
  const appears = ({ key, ...call }: SeenCall, store: FakeStore) =>
    isCopy({ key, ...call }) && key === "y" && Boolean(store.buckets.get("b")?.set("y", "another"));
  const skipping = await racing(appears);
  assert.deepEqual([skipping.a, skipping.b], [{ "x/1": "bytes of x/1" }, { y: "another" }]);
  assert.equal(skipping.skipped, 1);
  const both = await racing(appears, { onTaken: "keep both" });
  assert.deepEqual([both.a, both.b], [{}, { y: "another", "y (2)": "bytes of x/1" }]);
  const replacing = await racing(appears, { onTaken: "replace" });
  assert.deepEqual([replacing.a, replacing.b], [{}, { y: "bytes of x/1" }]);
});

Deno.test("move: a store without conditions moves all the same, and is asked for each condition once", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  browser.store.unsupported = CONDITIONS;
  const { done, deleted, failed } = await ended(browser.page().start(move()), browser.clock);
  assert.deepEqual({ done, deleted, failed }, { done: 3, deleted: 3, failed: 0 });
  assert.deepEqual(browser.store.keys("a"), MOVED);
});

Deno.test("move: it waits for a lost network, without an end, and goes on", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  let isAway = true;
  browser.store.fault = (call) => isAway && isCopy(call) ? 0 : null;
  const task = browser.page().start(move());
  await browser.clock.pass(3600);
  assert.equal(task.isAway.peek(), true);
  assert.equal(task.state.peek().end, null);
  isAway = false;
  const { done, deleted } = await ended(task, browser.clock);
  assert.deepEqual({ done, deleted }, { done: 3, deleted: 3 });
  assert.equal(task.isAway.peek(), false);
});

Deno.test("move: it stops at a store that stays busy, and goes on when it is tried again", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  browser.store.fault = (call) => isCopy(call) ? 503 : null;
  const list = browser.page();
  const task = list.start(move());
  assert.deepEqual((await ended(task, browser.clock)).end, { how: "stopped", status: 503 });
  assert.ok(browser.store.calls.filter(isCopy).length < 30);
  browser.store.fault = () => null;
  list.resume(task.id);
  const { end, done, deleted } = await ended(task, browser.clock);
  assert.deepEqual({ end, done, deleted }, { end: { how: "done" }, done: 3, deleted: 3 });
  assert.deepEqual(browser.store.keys("a"), MOVED);
});

Deno.test("move: it stops where the account may not write, without a try for each object", async () => {
  const keys = Array.from({ length: 200 }, (_, n) => `x/${n}`);
  const browser = new Browser(new FakeStore({ a: keys }));
  browser.store.fault = (call) => isCopy(call) ? 403 : null;
  const { end } = await ended(browser.page().start(move({ objects: 200 })), browser.clock);
  assert.deepEqual(end, { how: "stopped", status: 403 });
  assert.ok(browser.store.calls.filter(isCopy).length < 12);
  assert.equal(browser.store.keys("a").length, 200);
});

Deno.test("move: objects that were moved before a stop are neither counted twice nor taken for names in use", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  browser.store.fault = (call) => isCopy(call) && call.key === "y/3" ? 503 : null;
  const steps = KEYS.map((from, index) => ({ kind: "object" as const, from, to: MOVED[index] }));
  const list = browser.page();
  const task = list.start(move({ steps }));
  assert.deepEqual((await ended(task, browser.clock)).end, { how: "stopped", status: 503 });
  browser.store.fault = () => null;
  list.resume(task.id);
  const { done, deleted, skipped } = await ended(task, browser.clock);
  assert.deepEqual({ done, deleted, skipped }, { done: 3, deleted: 3, skipped: 0 });
});

Deno.test("move: canceled, nothing more is copied, and no source is gone without its copy", async () => {
  const keys = Array.from({ length: 50 }, (_, n) => `x/${n}`);
  const browser = new Browser(new FakeStore({ a: keys }));
  const list = browser.page();
  const task = list.start(move());
  browser.store.fault = (call) => {
    if (isCopy(call)) list.cancel(task.id);
    return null;
  };
  const { end, done, deleted } = await ended(task, browser.clock);
  assert.deepEqual(end, { how: "canceled" });
  assert.equal(done, deleted);
  assert.ok(browser.store.calls.filter(isCopy).length < 8);
  assert.equal(browser.store.keys("a").length, 50);
});

Deno.test("tasks: one that another page performs is neither changed nor canceled by this page, which takes it over", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  browser.page(() => new Promise<never>(() => {})).start(move());
  await settled();
  const [{ id }] = await browser.journal.all("archive/curator");
  const further = { ...NEW_TASK, done: 1, deleted: 1, total: 3 };
  const free = Promise.withResolvers<void>();
  const list = browser.page(undefined, async (_name, wait, work) => {
    wait();
    await free.promise;
    await work();
  });
  await list.restore();
  await browser.journal.putState(id, further);
  list.cancel(id);
  await settled();
  const [task] = list.tasks.peek();
  assert.deepEqual([task.isElsewhere.peek(), task.state.peek().isCanceling], [true, false]);
  assert.deepEqual((await browser.journal.read(id))?.state, further);
  free.resolve();
  assert.deepEqual((await ended(task, browser.clock)).end, { how: "done" });
});

Deno.test("tasks: those that need nothing more leave the list together, and the others stay", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  const list = browser.page();
  await ended(list.start(move()), browser.clock);
  browser.store.fault = (call) => isCopy(call) ? 503 : null;
  const stopped = list.start(move({ steps: [{ kind: "object", from: "y/1", to: "z" }] }));
  await ended(stopped, browser.clock);
  list.dismissFinished();
  assert.deepEqual(list.tasks.peek().map(({ id }) => id), [stopped.id]);
  await settled();
  assert.deepEqual((await browser.journal.all("archive/curator")).map(({ id }) => id), [stopped.id]);
});

Deno.test("tasks: one that a page stopped because it was older than the server goes on with the next page", async () => {
  const browser = new Browser(new FakeStore({ a: KEYS }));
  const state = { ...NEW_TASK, end: { how: "stopped", status: OUTDATED } } as const;
  await browser.journal.put({ id: "t", account: "archive/curator", createdAt: 0, plan: move(), state });
  const list = browser.page();
  await list.restore();
  assert.deepEqual((await ended(list.tasks.peek()[0], browser.clock)).end, { how: "done" });
  assert.deepEqual(browser.store.keys("a"), MOVED);
});

Deno.test("undo: of keys the newest marker is removed, below a prefix only markers of the deletion's own time", async () => {
  const removed: unknown[] = [];
  const marker = (Key: string, at: number, IsLatest = true) => ({
    Key,
    VersionId: `of ${Key}`,
    IsLatest,
    LastModified: new Date(at).toISOString(),
  });
  const markers = [marker("p/old", 0), marker("p/ours", 100_000), marker("p/again", 100_000, false)];
  const browser = new Browser(new FakeStore({}));
  const list = browser.page((operation, _account, parameters, request) => {
    const { key } = parameters;
    if (request?.method === "DELETE") removed.push([key, parameters.version_id]);
    const json = operation === "/buckets/:bucket/versions"
      ? { versions: [], delete_markers: markers, is_truncated: false }
      : { versions: [{ VersionId: `of ${key}`, IsDeleteMarker: key === "one" }] };
    return Promise.resolve({ status: 200, json, headers: new Headers() });
  });
  const task = list.start({
    kind: "undo",
    place: { bucket: "a", prefix: "" },
    name: "one",
    rows: 3,
    keys: ["one", "written again"],
    prefixes: ["p/"],
    since: 99_000,
    until: 101_000,
    objects: 3,
  });
  const { end, done } = await ended(task, browser.clock);
  assert.deepEqual({ end, done }, { end: { how: "done" }, done: 2 });
  assert.deepEqual(removed, [["one", "of one"], ["p/ours", "of p/ours"]]);
});

/** Starts a task on a page that is closed after some requests, and expects the next page to end it. */
async function doneByTwoPages(browser: Browser, plan: TransferTaskPlan, last: number, isDone: boolean): Promise<void> {
  browser.page(closedAfter(browser.store, last, isDone)).start(plan);
  await settled();
  await settled();
  const list = browser.page();
  await list.restore();
  const { end } = await ended(list.tasks.peek()[0], browser.clock);
  assert.deepEqual(end, { how: "done" });
}

Deno.test("move: whatever request of a page is its last, the next page ends with all objects in the new place", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 14 }), fc.boolean(), async (last, isDone) => {
      const browser = new Browser(new FakeStore({ a: [...KEYS, "z"] }));
      const steps = [{ kind: "folder", from: "x/", to: "y/" }, { kind: "object", from: "z", to: "w" }] as const;
      await doneByTwoPages(browser, move({ steps, objects: 4 }), last, isDone);
      assert.deepEqual(browser.store.keys("a"), ["w", ...MOVED]);
    }),
    { numRuns: 60 },
  );
});

Deno.test("tasks: a task that the gateway no longer knows is said to be gone", async () => {
  const browser = new Browser(new FakeStore({ a: [] }));
  const plan = { kind: "delete", place: { bucket: "a", prefix: "" }, name: "x", rows: 1, keys: ["x"], prefixes: [] };
  const list = browser.page(async (operation, ...rest) => {
    const isStart = operation.endsWith("/delete-task") && rest[2]?.method === "POST";
    return isStart
      ? { status: 202, json: { task_id: "t" }, headers: new Headers() }
      : await browser.store.call(operation, ...rest);
  });
  const task = list.start({ ...plan, kind: "delete", canUndo: false });
  assert.deepEqual((await ended(task, browser.clock)).end, { how: "gone" });
});

Deno.test("move: an object whose new name is in use gets a number beside it, and takes no other object's place", async () => {
  const names = ["1", "1 (2)", "scan.tif", "scan (2).tif"];
  const browser = new Browser(new FakeStore({ a: [...names.map((name) => `x/${name}`), "y/1", "y/scan.tif"] }));
  const { end, done, deleted, renamed, skipped } = await ended(
    browser.page().start(move({ onTaken: "keep both", objects: 4 })),
    browser.clock,
  );
  assert.deepEqual({ end, done, deleted, skipped }, { end: { how: "done" }, done: 4, deleted: 4, skipped: 0 });
  assert.ok(renamed >= 2);
  const contents = [...browser.store.buckets.get("a") ?? []];
  assert.ok(contents.every(([key]) => key.startsWith("y/")));
  assert.deepEqual(
    contents.map(([, content]) => content).sort(),
    [...names.map((name) => `bytes of x/${name}`), "bytes of y/1", "bytes of y/scan.tif"].sort(),
  );
  assert.equal(browser.store.buckets.get("a")?.get("y/1"), "bytes of y/1");
});

Deno.test("move: a number is not given that another object is about to have in its name", async () => {
  const browser = new Browser(new FakeStore({ a: ["x/1", "x/1 (2)", "y/1"] }));
  const other = Promise.withResolvers<void>();
  const list = browser.page(async (...call) => {
    const [operation, , , request] = call;
    if (operation.endsWith("/copy")) {
      const isNumbered = JSON.stringify(request?.json).includes("x/1 (2)");
      if (isNumbered) await other.promise;
      else other.resolve();
    }
    return await browser.store.call(...call);
  });
  await ended(list.start(move({ onTaken: "keep both", objects: 2 })), browser.clock);
  assert.deepEqual(Object.fromEntries(browser.store.buckets.get("a") ?? []), {
    "y/1": "bytes of y/1",
    "y/1 (2)": "bytes of x/1 (2)",
    "y/1 (3)": "bytes of x/1",
  });
});

Deno.test("copy: whatever request of a page is its last, both objects of a name stay, each once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.boolean(), fc.boolean(), async (last, isDone, isMove) => {
      const browser = new Browser(new FakeStore({ a: ["x/1", "x/1 (2)", "x/2"], b: ["1", "2", "2 (2)"] }));
      const plan = move({
        kind: isMove ? "move" : "copy",
        to: { bucket: "b", prefix: "" },
        steps: [{ kind: "folder", from: "x/", to: "" }],
        onTaken: "keep both",
      });
      await doneByTwoPages(browser, plan, last, isDone);
      assert.deepEqual(
        [...browser.store.buckets.get("b")?.values() ?? []].sort(),
        ["1", "2", "2 (2)", "x/1", "x/1 (2)", "x/2"].map((key) => `bytes of ${key}`).sort(),
      );
      assert.equal(browser.store.keys("a").length, isMove ? 0 : 3);
    }),
    { numRuns: 60 },
  );
});

Deno.test("undo: whatever request of a page is its last, the next page counts each object that came back once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.boolean(), async (last, isDone) => {
      const keys = ["k1", "k2", "k3"];
      const below = Array.from({ length: 6 }, (_, n) => `p/${n}`);
      const markers = new Set([...keys, ...below]);
      const browser = new Browser(new FakeStore({}));
      const store = { call: versionsOf(markers) };
      browser.page(closedAfter(store, last, isDone)).start({
        kind: "undo",
        place: { bucket: "a", prefix: "" },
        name: "k1",
        rows: 4,
        keys,
        prefixes: ["p/"],
        since: 0,
        until: 0,
        objects: 9,
      });
      await settled();
      await settled();
      const list = browser.page(store.call);
      await list.restore();
      const { end, done, failed } = await ended(list.tasks.peek()[0], browser.clock);
      assert.deepEqual({ end, done, failed, left: markers.size }, {
        end: { how: "done" },
        done: 9,
        failed: 0,
        left: 0,
      });
    }),
    { numRuns: 60 },
  );
});

type Call = FakeStore["call"];

/** A page that is closed sends nothing more; the answer to its last request is lost. */
function closedAfter(store: { readonly call: Call }, last: number, isDone: boolean): Call {
  let left = last;
  return async (...request) => {
    if (left-- > 0) return await store.call(...request);
    if (left === -1 && isDone) await store.call(...request);
    return await new Promise<never>(() => {});
  };
}

/** A bucket in which these keys have a delete marker in front. */
function versionsOf(markers: Set<string>): Call {
  const answer = (status: number, json: unknown = {}) => ({ status, json, headers: new Headers() });
  return async (operation, _account, { key, prefix }, request) => {
    await Promise.resolve();
    if (request?.method === "DELETE") return answer(markers.delete(String(key)) ? 200 : 404);
    if (operation === "/buckets/:bucket/versions/:key") {
      return answer(200, { versions: [{ VersionId: "2", IsDeleteMarker: markers.has(String(key)) }] });
    }
    const found = [...markers].filter((name) => name.startsWith(String(prefix)));
    return answer(200, {
      delete_markers: found.map((Key) => ({
        Key,
        VersionId: "2",
        IsLatest: true,
        LastModified: new Date(0).toISOString(),
      })),
      is_truncated: false,
    });
  };
}
