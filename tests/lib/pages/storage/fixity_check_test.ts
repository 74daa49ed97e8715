import assert from "node:assert/strict";

import {
  damageKinds,
  expectedOf,
  type FixityCheck,
  resultsOf,
  rowFilterOf,
  rowFilters,
} from "@/lib/pages/storage/fixity_check.ts";
import { NEW_CHECK } from "./fixity_samples.ts";

const check = (more: Partial<FixityCheck> = {}): FixityCheck => ({ ...NEW_CHECK, task_id: "1", intact: 5, ...more });

Deno.test("fixity check: filters add up to all, and name only what there is", () => {
  const one = check({ intact: 5, changed: 2, unreadable: 1, damaged: 3, deleted: 3 });
  assert.deepEqual(rowFilters(one), [{ filter: "damaged", objects: 3 }, { filter: "deleted", objects: 3 }, {
    filter: "all",
    objects: 6,
  }]);
  assert.deepEqual(rowFilters(check({ intact: 5, full: true })), [{ filter: "intact", objects: 5 }]);
  assert.deepEqual(damageKinds(one).map(({ filter }) => filter), ["changed", "unreadable"]);
  assert.equal(rowFilterOf("deleted", one), "deleted");
  assert.equal(rowFilterOf("unreadable", one), "unreadable");
  for (const named of [null, "", "missing", "__proto__"]) assert.equal(rowFilterOf(named, one), "damaged");
  assert.equal(rowFilterOf("all", check()), null);
  assert.deepEqual([resultsOf("all"), resultsOf("damaged")?.length, resultsOf("deleted")], [null, 3, ["deleted"]]);
});

Deno.test("fixity check: how much it will read follows from its manifest, the last check of the place, or the store", () => {
  const running = check({ status: "processing", task_id: "2", prefix: "a/" });
  const whole = check({ status: "processing", task_id: "2" });
  const usage = { objects: 9, bytes: 90 };
  assert.equal(expectedOf(running, [running], usage), null);
  assert.deepEqual(expectedOf(whole, [whole], usage), usage);
  const before = check({ prefix: "a/", intact: 7, bytes: 70 });
  assert.deepEqual(expectedOf(running, [running, before], usage), { objects: 7, bytes: 70 });
  for (const other of [{ prefix: "b/" }, { all_versions: true }, { status: "canceled" as const }]) {
    assert.equal(expectedOf(running, [check({ prefix: "a/", intact: 7, ...other })], undefined), null);
  }
  // More was read than expected: the store has grown.
  assert.equal(expectedOf(check({ status: "processing", intact: 10 }), [], usage), null);
  const manifest = { bucket: "letters", root: "", keys: ["manifest-sha256.txt"], entries: 12, invalid_lines: 0 };
  const named = check({ status: "processing", task_id: "2", prefix: "a/", manifest });
  assert.deepEqual(expectedOf(named, [named, before], usage), { objects: 12, bytes: null });
});
