import assert from "node:assert/strict";
import fc from "fast-check";

import { chosenRows } from "@/lib/presentation/storage/chosen_rows.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import {
  nameProblem,
  type Place,
  planRename,
  planTransfer,
  targetKey,
  type TransferStep,
} from "@/lib/presentation/storage/transfer_plan.ts";

const row = (key: string): StorageRow => ({
  kind: key.endsWith("/") ? "folder" : "object",
  key,
  size: 0,
  changed: null,
});
const place = (prefix: string, bucket = "b"): Place => ({ bucket, prefix });

function stepsOf(plan: ReturnType<typeof planTransfer>): readonly TransferStep[] {
  assert.ok("steps" in plan, JSON.stringify(plan));
  return plan.steps;
}

const name = fc.stringMatching(/^[a-c. å]{1,4}$/);
const prefix = fc.array(name, { maxLength: 3 }).map((names) => names.map((part) => `${part}/`).join(""));
const rows = (folder: string) =>
  fc.uniqueArray(fc.tuple(name, fc.boolean()).map(([own, isFolder]) => `${folder}${own}${isFolder ? "/" : ""}`), {
    minLength: 1,
    maxLength: 6,
  }).map((keys) => keys.map(row));

Deno.test("transfer plan: what is below the rows gets keys of its own in the new place, and none is a source", () => {
  const cases = prefix.chain((from) =>
    fc.tuple(fc.constant(from), prefix, rows(from), fc.constantFrom("b", "c"), name)
  );
  fc.assert(fc.property(cases, ([from, to, chosen, bucket, below]) => {
    const plan = planTransfer(chosen, place(from), place(to, bucket));
    if ("problem" in plan) {
      const isInside = chosen.some(({ kind, key }) => kind === "folder" && to.startsWith(key));
      assert.equal(bucket, "b");
      assert.ok(plan.problem === "same place" ? from === to : plan.problem === "inside itself" && isInside);
      return;
    }
    const sources = chosen.map(({ kind, key }) => kind === "folder" ? `${key}${below}` : key);
    const targets = plan.steps.map((step, index) => targetKey(step, sources[index]));
    assert.equal(new Set(targets).size, targets.length);
    for (const [index, target] of targets.entries()) {
      assert.equal(target, to + sources[index].slice(from.length));
      // A listing that goes on while keys are added must not find them.
      if (bucket === "b") assert.ok(!plan.steps.some(({ kind, from }) => kind === "folder" && target.startsWith(from)));
    }
  }));
});

Deno.test("transfer plan: a folder does not go into itself, nor anything where it is, but to another bucket", () => {
  assert.deepEqual(planTransfer([row("a/")], place(""), place("a/")), { problem: "inside itself" });
  assert.deepEqual(planTransfer([row("a/")], place(""), place("a/b/")), { problem: "inside itself" });
  assert.deepEqual(planTransfer([row("a/b")], place("a/"), place("a/")), { problem: "same place" });
  assert.deepEqual(stepsOf(planTransfer([row("a/")], place(""), place("a/", "c"))), [
    { kind: "folder", from: "a/", to: "a/a/" },
  ]);
  assert.deepEqual(planTransfer([row("x")], place(""), place(`${"å".repeat(512)}/`)), { problem: "too long" });
});

Deno.test("transfer plan: a folder renamed to a longer name is not inside itself", () => {
  assert.deepEqual(stepsOf(planRename(row("a/b/"), place("a/"), "bb")), [{
    kind: "folder",
    from: "a/b/",
    to: "a/bb/",
  }]);
  assert.deepEqual(stepsOf(planRename(row("a/b"), place("a/"), "c")), [{ kind: "object", from: "a/b", to: "a/c" }]);
  assert.deepEqual(planRename(row("a/b"), place("a/"), "b"), { problem: "same place" });
});

Deno.test("transfer plan: names are not empty, have no slash and no half of a character, and fit into a key", () => {
  assert.equal(nameProblem("", ""), "empty");
  assert.equal(nameProblem("", "a/b"), "slash");
  assert.equal(nameProblem("", "\ud83c"), "half a character");
  assert.equal(nameProblem("a/", "x".repeat(1021)), null);
  assert.equal(nameProblem("a/", "x".repeat(1022)), "too long");
  assert.equal(nameProblem("", ".."), null);
});

Deno.test("selected rows: those that are not loaded any more are known by their names", () => {
  const known = [{ ...row("a"), size: 7 }];
  assert.deepEqual(chosenRows(new Set(["a", "b/"]), known), [known[0], row("b/")]);
});
