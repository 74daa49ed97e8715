import assert from "node:assert/strict";

import { pathAfter } from "@/lib/pages/storage/after_change.ts";
import { NEW_TASK, type TaskPlan, type TaskState } from "@/lib/pages/storage/task_record.ts";

const PLANNED = { place: { bucket: "a", prefix: "x/" }, name: "1", rows: 1, keys: ["x/1"], prefixes: [] };
const DELETE: TaskPlan = { ...PLANNED, kind: "delete", canUndo: true };
const MOVE: TaskPlan = { ...PLANNED, kind: "move", from: "x/", to: { bucket: "b", prefix: "y/" }, isRename: false };
const DELETE_FOLDER: TaskPlan = { ...DELETE, keys: [], prefixes: ["x/y/"] };
const MOVE_FOLDER: TaskPlan = { ...MOVE, prefixes: ["x/y/"], from: "x/y/", to: { bucket: "b", prefix: "z/" } };

const folderAt = (bucket: string, prefix: string) =>
  `/storage/folder?account=archive%2Folle&bucket=${bucket}&prefix=${encodeURIComponent(prefix)}`;

type Case = readonly [plan: TaskPlan, state: Partial<TaskState>, path: string | null];

function assertPaths(shown: { readonly key: string } | { readonly prefix: string }, cases: readonly Case[]): void {
  for (const [plan, state, path] of cases) {
    const ended: TaskState = { ...NEW_TASK, end: { how: "done" }, ...state };
    assert.equal(pathAfter({ account: "archive/olle", bucket: "a", ...shown }, plan, ended), path, plan.kind);
  }
}

Deno.test("after a change: the page of an object goes where the object went, or to its folder, unless the object is there", () => {
  assertPaths({ key: "x/1" }, [
    [DELETE, { done: 1 }, folderAt("a", "x/")],
    [MOVE, { done: 1, deleted: 1 }, "/storage/object?account=archive%2Folle&bucket=b&key=y%2F1"],
    [MOVE, { done: 1, deleted: 1, renamed: 1 }, folderAt("b", "y/")],
    [DELETE, { done: 1, failed: 1 }, null],
    [DELETE, { done: 1, end: { how: "canceled" } }, null],
    [{ ...DELETE, keys: ["x/2"] }, { done: 1 }, null],
    [{ ...DELETE, place: { bucket: "b", prefix: "x/" } }, { done: 1 }, null],
    [MOVE, { skipped: 1 }, null],
    [{ ...MOVE, kind: "copy" }, { done: 1 }, null],
  ]);
});

Deno.test("after a change: the page of a folder goes where all of the folder went, or to the folder around it", () => {
  assertPaths({ prefix: "x/y/" }, [
    [DELETE_FOLDER, { done: 2 }, folderAt("a", "x/")],
    [DELETE_FOLDER, { done: 2, failed: 1 }, null],
    [{ ...DELETE_FOLDER, prefixes: ["x/z/"] }, { done: 2 }, null],
    [MOVE_FOLDER, { done: 2, deleted: 2, renamed: 1 }, folderAt("b", "z/")],
    // What was skipped is still in it.
    [MOVE_FOLDER, { done: 2, deleted: 1, skipped: 1 }, null],
    [{ ...MOVE_FOLDER, kind: "copy" }, { done: 2 }, null],
  ]);
});
