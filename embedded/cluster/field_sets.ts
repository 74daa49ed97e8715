import { isObject } from "@/lib/std/is_object.ts";
import type { ManagedFields } from "./objects.ts";

/** Names from an object's root to a field, as JSON; a map is a field beside its members. */
export type FieldPath = string;
export type FieldSet = ReadonlySet<FieldPath>;
type FieldsV1 = ManagedFields["fieldsV1"];

export function fieldPath(...names: readonly string[]): FieldPath {
  return JSON.stringify(names);
}

/** A path as conflicts show it: `.data.key`. */
export function shownPath(path: FieldPath): string {
  return namesOf(path).map((name) => `.${name}`).join("");
}

/** A set of fields as `managedFields` holds it (format FieldsV1): `f:` before each name, `.` for a map beside its members. */
export function writeFieldSet(fields: FieldSet): FieldsV1 {
  const root: Tree = new Map();
  for (const path of fields) {
    let tree = root;
    for (const name of namesOf(path)) {
      const inner: Tree = tree.get(`f:${name}`) ?? new Map();
      tree.set(`f:${name}`, inner);
      tree = inner;
    }
    tree.set(".", new Map());
  }
  return written(root);
}

/** Names in order, each with what is below it. */
type Tree = Map<string, Tree>;

function written(tree: Tree): FieldsV1 {
  const members = [...tree].filter(([name]) => name !== "." || tree.size > 1);
  return Object.fromEntries(members.sort(([a], [b]) => a < b ? -1 : 1).map(([name, inner]) => [name, written(inner)]));
}

/** Reads what `writeFieldSet` writes; what is no part of the format is left out. */
export function readFieldSet(fields: unknown): Set<FieldPath> {
  const found = new Set<FieldPath>();
  const collect = (node: unknown, names: readonly string[]) => {
    if (!isObject(node)) return;
    const entries = Object.entries(node);
    if (names.length > 0 && (entries.length === 0 || Object.hasOwn(node, "."))) found.add(fieldPath(...names));
    for (const [key, member] of entries) {
      if (key.startsWith("f:")) collect(member, [...names, key.slice(2)]);
    }
  };
  collect(fields, []);
  return found;
}

/** The names of a path. */
export function namesOf(path: FieldPath): string[] {
  const names: unknown = JSON.parse(path);
  return Array.isArray(names) ? names.map(String) : [];
}
