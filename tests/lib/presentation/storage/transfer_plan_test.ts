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
    assert.deepEqual(plan.steps.map(({ from }) => from).toSorted(), chosen.map(({ key }) => key).toSorted());
    const sources = plan.steps.map(({ kind, from }) => kind === "folder" ? `${from}${below}` : from);
    const targets = plan.steps.map((step, index) => targetKey(step, sources[index]));
    assert.equal(new Set(targets).size, targets.length);
    for (const [index, target] of targets.entries()) {
      assert.equal(target, to + sources[index].slice(from.length));
      // A listing that goes on while keys are added must not find them.
      const rest = bucket === "b" ? plan.steps.slice(index) : [];
      assert.ok(!rest.some(({ kind, from }) => kind === "folder" && target.startsWith(from)));
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

Deno.test("transfer plan: no step gives a key to an object that this or a later step takes for a source", () => {
  const names = (options: fc.ArrayConstraints) =>
    fc.array(fc.constantFrom("a/", "b/"), options).map((parts) => parts.join(""));
  const cases = fc.tuple(names({ minLength: 1, maxLength: 3 }), names({ maxLength: 2 }), names({ maxLength: 4 }));
  fc.assert(fc.property(cases, fc.nat(3), ([from, below, rest], depth) => {
    const to = from.split("/").slice(0, -1).slice(0, depth).map((part) => `${part}/`).join("");
    const plan = planTransfer([row(`${from}a/`), row(`${from}b`), row(`${from}b/`)], place(from), place(to));
    if ("problem" in plan) return assert.equal(to, from);
    for (const [index, step] of plan.steps.entries()) {
      const source = step.kind === "folder" ? `${step.from}${below}${rest}x` : step.from;
      if (plan.ontoItself !== null && source.startsWith(plan.ontoItself)) continue;
      const target = targetKey(step, source);
      const isSource = ({ kind, from }: TransferStep) => kind === "folder" ? target.startsWith(from) : target === from;
      assert.ok(!plan.steps.slice(index).some(isSource), `${source} -> ${target}`);
    }
  }));
});

Deno.test("transfer plan: a folder moved up to a parent of its name comes last, and what is below may stop it", () => {
  const plan = planTransfer([row("a/a/"), row("a/x")], place("a/"), place(""));
  assert.deepEqual(plan, {
    steps: [{ kind: "object", from: "a/x", to: "x" }, { kind: "folder", from: "a/a/", to: "a/" }],
    ontoItself: "a/a/a/",
  });
  const deeper = planTransfer([row("a/b/a/")], place("a/b/"), place(""));
  assert.ok("steps" in deeper && deeper.ontoItself === "a/b/a/b/a/");
  const elsewhere = planTransfer([row("a/a/")], place("a/"), place("", "c"));
  assert.ok("steps" in elsewhere && elsewhere.ontoItself === null);
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

Deno.test("selected rows: those that are no longer loaded are known by their names", () => {
  const known = [{ ...row("a"), size: 7 }];
  assert.deepEqual(chosenRows(new Set(["a", "b/"]), known), [known[0], row("b/")]);
});
