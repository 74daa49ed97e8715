import assert from "node:assert/strict";

import { pathAfter } from "@/lib/presentation/storage/after_change.ts";
import { NEW_TASK, type TaskPlan, type TaskState } from "@/lib/presentation/storage/task_record.ts";

const ADDRESS = { account: "archive/olle", bucket: "a", key: "x/1" };
const PLANNED = { place: { bucket: "a", prefix: "x/" }, name: "1", rows: 1, keys: ["x/1"], prefixes: [] };
const DELETE: TaskPlan = { ...PLANNED, kind: "delete", canUndo: true };
const MOVE: TaskPlan = {
  ...PLANNED,
  kind: "move",
  from: "x/",
  to: { bucket: "b", prefix: "y/" },
  isRename: false,
};

function pathOf(plan: TaskPlan, state: Partial<TaskState>): string | null {
  return pathAfter(ADDRESS, plan, { ...NEW_TASK, end: { how: "done" }, ...state });
}

Deno.test("after a change: the page of an object goes where the object went, or to the folder that it was in", () => {
  const folder = "/storage/folder?account=archive%2Folle&bucket=a&prefix=x%2F";
  assert.equal(pathOf(DELETE, { done: 1 }), folder);
  assert.equal(pathOf(MOVE, { done: 1, deleted: 1 }), "/storage/object?account=archive%2Folle&bucket=b&key=y%2F1");
  assert.equal(
    pathOf(MOVE, { done: 1, deleted: 1, renamed: 1 }),
    "/storage/folder?account=archive%2Folle&bucket=b&prefix=y%2F",
  );
});

Deno.test("after a change: the page of an object stays where the object is still there", () => {
  assert.equal(pathOf(DELETE, { done: 1, failed: 1 }), null);
  assert.equal(pathOf(DELETE, { done: 1, end: { how: "canceled" } }), null);
  assert.equal(pathOf({ ...DELETE, keys: ["x/2"] }, { done: 1 }), null);
  assert.equal(pathOf({ ...DELETE, place: { bucket: "b", prefix: "x/" } }, { done: 1 }), null);
  assert.equal(pathOf(MOVE, { skipped: 1 }), null);
  assert.equal(pathOf({ ...MOVE, kind: "copy" }, { done: 1 }), null);
});

Deno.test("after a change: the page of a folder goes where all of the folder went, or to the folder around it", () => {
  const pathOf = (plan: TaskPlan, state: Partial<TaskState>) =>
    pathAfter({ account: "archive/olle", bucket: "a", prefix: "x/y/" }, plan, {
      ...NEW_TASK,
      end: { how: "done" },
      ...state,
    });
  const whole: TaskPlan = { ...DELETE, keys: [], prefixes: ["x/y/"] };
  assert.equal(pathOf(whole, { done: 2 }), "/storage/folder?account=archive%2Folle&bucket=a&prefix=x%2F");
  assert.equal(pathOf(whole, { done: 2, failed: 1 }), null);
  assert.equal(pathOf({ ...whole, prefixes: ["x/z/"] }, { done: 2 }), null);
  const moved: TaskPlan = { ...MOVE, prefixes: ["x/y/"], from: "x/y/", to: { bucket: "b", prefix: "z/" } };
  const target = "/storage/folder?account=archive%2Folle&bucket=b&prefix=z%2F";
  assert.equal(pathOf(moved, { done: 2, deleted: 2, renamed: 1 }), target);
  assert.equal(pathOf(moved, { done: 2, deleted: 1, skipped: 1 }), null, "what was skipped is still in it");
  assert.equal(pathOf({ ...moved, kind: "copy" }, { done: 2 }), null);
});
