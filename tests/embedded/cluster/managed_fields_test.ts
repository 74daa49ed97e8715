import assert from "node:assert/strict";
import fc from "fast-check";
import { fieldPath, readFieldSet, writeFieldSet } from "@/embedded/cluster/field_sets.ts";
import { applyFields, type OwnedContent, updateFields } from "@/embedded/cluster/managed_fields.ts";
import type { ManagedFields } from "@/embedded/cluster/objects.ts";
import { START } from "./sample_cluster.ts";

const KEY = fc.constantFrom("a", "b", "c", "__proto__", ".", "f:a");
const RECORD = fc.dictionary(KEY, fc.constantFrom("1", "2"), { maxKeys: 4, noNullPrototype: true });
const CONTENT = fc.record({ metadata: fc.record({ labels: RECORD }), data: RECORD });

function members(content: OwnedContent): Map<string, string> {
  const { metadata, data = {} } = content;
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]): [string, string] => [`label ${key}`, value]);
  return new Map([...labels, ...Object.entries(data).map(([key, value]): [string, string] => [`data ${key}`, value])]);
}

Deno.test("field sets: written and read back they are the same, whatever their names", () => {
  const path = fc.array(fc.string(), { minLength: 1, maxLength: 4 }).map((names) => fieldPath(...names));
  fc.assert(fc.property(fc.uniqueArray(path), (paths) => {
    const set = new Set(paths);
    assert.deepEqual(readFieldSet(JSON.parse(JSON.stringify(writeFieldSet(set)))), set);
  }));
});

Deno.test("apply: afterwards the object says what was applied, and a second apply changes nothing", () => {
  fc.assert(fc.property(CONTENT, CONTENT, CONTENT, (first, second, third) => {
    const one = applyFields(null, [], first, "one", false, START);
    const two = applyFields(one.content, one.managedFields, second, "two", true, START);
    const last = applyFields(two.content, two.managedFields, third, "one", true, START);
    const now = members(last.content);
    for (const [key, value] of members(third)) assert.equal(now.get(key), value);
    // What only the second manager said is still there.
    for (const [key, value] of members(second)) if (!members(third).has(key)) assert.equal(now.get(key), value);
    // Nothing else is.
    assert.deepEqual(new Set(now.keys()), new Set([...members(third).keys(), ...members(second).keys()]));
    const again = applyFields(last.content, last.managedFields, third, "one", false, START + 60_000);
    assert.deepEqual(again, { ...last, conflicts: [] });
  }));
});

Deno.test("apply: without force nothing of another manager changes, or there is a conflict", () => {
  fc.assert(fc.property(CONTENT, CONTENT, (first, second) => {
    const one = applyFields(null, [], first, "one", false, START);
    const two = applyFields(one.content, one.managedFields, second, "two", false, START);
    const differs = [...members(second)].some(([key, value]) =>
      members(first).has(key) && members(first).get(key) !== value
    );
    assert.equal(two.conflicts.length > 0, differs);
  }));
});

Deno.test("update: more than ten managers become one of ancient changes, and no field loses its owner", () => {
  let content: OwnedContent = { metadata: {}, data: { k: "v" } };
  let owners: readonly ManagedFields[] = updateFields(null, [], content, "m0", START);
  for (let count = 1; count < 15; count++) {
    const next = { metadata: {}, data: { ...content.data, [`k${count}`]: "v" } };
    owners = updateFields(content, owners, next, `m${count}`, START + count * 1000);
    content = next;
  }
  assert.equal(owners.length, 10);
  assert.ok(owners.some(({ manager }) => manager === "ancient-changes"));
  const fields = owners.flatMap(({ fieldsV1 }) => [...readFieldSet(fieldsV1)]);
  assert.equal(fields.length, 16);
});
