import assert from "node:assert/strict";
import { type ShownTask, TaskList } from "@/lib/pages/storage/task_list_client.ts";
import type { TaskPlan } from "@/lib/pages/storage/task_record.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";

type Call = ConstructorParameters<typeof TaskList>[0]["call"];

const MOVE: TaskPlan = {
  kind: "move",
  place: { bucket: "a", prefix: "" },
  name: "x/",
  rows: 1,
  keys: [],
  prefixes: ["x/"],
  from: "",
  to: { bucket: "a", prefix: "y/" },
  isRename: false,
};
const ZIP: TaskPlan = { kind: "zip", place: MOVE.place, name: "x/", rows: 1, keys: [], prefixes: ["x/"] };

/** The pages of a browser in front of a gateway that gives its tasks' progress as a test says. */
class Browser {
  readonly clock = new HeldClock();
  readonly memory = new Map<string, string>();
  readonly seen: string[] = [];
  readonly ends: unknown[] = [];
  /** How many characters there is room for. */
  room = Infinity;
  started: { status: number; json: unknown } = { status: 202, json: progress("processing", 0) };
  answer: { status: number; json: unknown } = { status: 200, json: progress("processing", 1) };

  page(): TaskList {
    const call: Call = (operation, _account, _parameters, { method = "GET" } = {}) => {
      this.seen.push(`${method} ${operation}`);
      const isStart = method === "POST" && !operation.endsWith("/cancel");
      const { status, json } = isStart ? this.started : this.answer;
      return Promise.resolve({ status, json: json as never, headers: new Headers() });
    };
    const storage = {
      getItem: (name: string) => this.memory.get(name) ?? null,
      setItem: (name: string, text: string) => {
        if (text.length > this.room) throw new DOMException("full", "QuotaExceededError");
        this.memory.set(name, text);
      },
    };
    const list = new TaskList({
      account: "archive/curator",
      call,
      storage,
      clock: this.clock,
      onEnd: (plan, { end }, isFirst) => this.ends.push([plan.kind, end?.how, isFirst]),
    });
    list.restore();
    return list;
  }
}

function progress(status: string, done: number, more: Readonly<Record<string, unknown>> = {}) {
  return { task_id: "t", status, total: 3, done, deleted: done, skipped: 0, renamed: 0, failed: 0, ...more };
}

async function ended(task: ShownTask, clock: HeldClock) {
  for (let turns = 0; task.state.peek().end === null; turns++) {
    assert.ok(turns < 50, "the task does not end");
    await clock.pass(60);
  }
  return task.state.peek();
}

Deno.test("tasks: one that ends with its start is over at once, without another look", async () => {
  const browser = new Browser();
  browser.started = { status: 202, json: progress("done", 3) };
  const list = browser.page();
  assert.equal(await list.start(MOVE, {}), null);
  await browser.clock.pass(0);
  const [{ state }] = list.tasks.peek();
  assert.deepEqual([state.peek().end, state.peek().deleted], [{ how: "done" }, 3]);
  assert.deepEqual(browser.seen, ["POST /buckets/:bucket/transfer"]);
  assert.deepEqual(browser.ends, [["move", "done", true]]);
});

Deno.test("tasks: a page that is open learns of one that another page has started and seen end", async () => {
  const browser = new Browser();
  browser.started = { status: 202, json: progress("done", 3) };
  const open = browser.page();
  await browser.page().start(MOVE, {});
  await browser.clock.pass(0);
  open.restore(true);
  assert.equal(open.lastEnded.peek()?.state.peek().done, 3);
  assert.deepEqual(browser.ends, [["move", "done", true], ["move", "done", false]]);
});

Deno.test("tasks: a later page goes on to show one, and each page that is open, but only one of them is the first", async () => {
  const browser = new Browser();
  await browser.page().start(MOVE, {});
  const [one, other] = [browser.page(), browser.page()];
  browser.answer = { status: 200, json: progress("done", 2, { failed: 1, errors: [{ Key: "x/1", Status: 412 }] }) };
  for (const list of [one, other]) {
    const { done, failed, faults } = await ended(list.tasks.peek()[0], browser.clock);
    assert.deepEqual([done, failed, faults], [2, 1, [{ key: "x/1", status: 412, message: "" }]]);
  }
  assert.equal(browser.ends.filter((end) => JSON.stringify(end).includes("true")).length, 1);
  // How it ended is shown without a look at it.
  browser.seen.length = 0;
  const [{ state, id }] = browser.page().tasks.peek();
  assert.equal(state.peek().done, 2);
  assert.deepEqual(browser.seen, []);
  one.dismiss(id);
  other.restore(true);
  assert.deepEqual([one.tasks.peek(), other.tasks.peek(), browser.page().tasks.peek()], [[], [], []]);
});

Deno.test("tasks: a gateway that is away or busy is asked again, and one that no longer knows the task is said so", async () => {
  const browser = new Browser();
  const list = browser.page();
  await list.start(MOVE, {});
  const [task] = list.tasks.peek();
  for (const status of [0, 503]) {
    browser.answer = { status, json: null };
    await browser.clock.pass(60);
    assert.deepEqual([task.state.peek().end, task.isAway.peek()], [null, status === 0]);
  }
  browser.answer = { status: 404, json: { detail: "Task not found" } };
  assert.deepEqual((await ended(task, browser.clock)).end, { how: "gone" });
});

Deno.test("tasks: one is cancelled by the gateway; why another failed is shown", async () => {
  const browser = new Browser();
  const list = browser.page();
  await list.start(MOVE, {});
  list.cancel(list.tasks.peek()[0].id);
  assert.ok(browser.seen.includes("POST /buckets/:bucket/transfer/:task_id/cancel"));
  browser.answer = { status: 200, json: progress("canceled", 1) };
  assert.deepEqual((await ended(list.tasks.peek()[0], browser.clock)).end, { how: "canceled" });
  browser.answer = { status: 200, json: progress("failed", 1, { error: "no", code: "task_forbidden" }) };
  await list.start(MOVE, {});
  const { end, done } = await ended(list.tasks.peek()[1], browser.clock);
  assert.deepEqual([end?.how, end?.how === "failed" && end.status, done], ["failed", 403, 1]);
});

Deno.test("tasks: where the browser has no room for all keys, a later page knows a task without them", async () => {
  const browser = new Browser();
  browser.room = 1500;
  const keys = Array.from({ length: 500 }, (_, n) => `key ${n}`);
  const plan: TaskPlan = { ...ZIP, kind: "delete", keys, canUndo: true };
  await browser.page().start(plan, {});
  const [{ plan: known }] = browser.page().tasks.peek();
  assert.deepEqual([known.name, known.keys, known.kind === "delete" && known.canUndo], ["x/", [], false]);
});

Deno.test("tasks: when a deletion began is known to a page that is opened once the gateway has forgotten it", async () => {
  const browser = new Browser();
  browser.answer = { status: 200, json: progress("processing", 1, { started_at: "2026-11-29T07:00:00Z" }) };
  await browser.page().start({ ...ZIP, kind: "delete", canUndo: true }, {});
  await settled();
  browser.answer = { status: 404, json: { detail: "Task not found" } };
  const { end, startedAt } = await ended(browser.page().tasks.peek()[0], browser.clock);
  assert.deepEqual([end, startedAt], [{ how: "gone" }, Date.parse("2026-11-29T07:00:00Z")]);
});

Deno.test("tasks: one of the day before is forgotten", async () => {
  const browser = new Browser();
  await browser.page().start(MOVE, {});
  browser.clock.now = () => 25 * 3_600_000;
  assert.deepEqual(browser.page().tasks.peek(), []);
});
