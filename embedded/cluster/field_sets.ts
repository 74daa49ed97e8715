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
  const root = new Map<string, Node>();
  for (const path of [...fields].sort()) {
    let members = root;
    let node: Node | undefined;
    for (const name of namesOf(path)) {
      node = members.get(name);
      if (!node) members.set(name, node = { isMember: false, members: new Map() });
      members = node.members;
    }
    if (node) node.isMember = true;
  }
  return written(root);
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

export function union(...sets: readonly FieldSet[]): Set<FieldPath> {
  return new Set(sets.flatMap((set) => [...set]));
}

export function without(fields: FieldSet, others: FieldSet): Set<FieldPath> {
  return new Set([...fields].filter((path) => !others.has(path)));
}

export function shared(fields: FieldSet, others: FieldSet): Set<FieldPath> {
  return new Set([...fields].filter((path) => others.has(path)));
}

export function sameFields(a: FieldSet, b: FieldSet): boolean {
  return a.size === b.size && [...a].every((path) => b.has(path));
}

interface Node {
  isMember: boolean;
  readonly members: Map<string, Node>;
}

function written(members: ReadonlyMap<string, Node>): FieldsV1 {
  return Object.fromEntries([...members].map(([name, node]) => {
    const inner = written(node.members);
    return [`f:${name}`, node.isMember && node.members.size > 0 ? { ".": {}, ...inner } : inner];
  }));
}

/** The names a path is made of. */
export function namesOf(path: FieldPath): string[] {
  const names: unknown = JSON.parse(path);
  return Array.isArray(names) ? names.map(String) : [];
}
