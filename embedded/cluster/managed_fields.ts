import { isObject } from "@/lib/std/is_object.ts";
import { type FieldPath, fieldPath, type FieldSet, readFieldSet, writeFieldSet } from "./field_sets.ts";
import { compareText } from "@/lib/std/text_order.ts";
import { isStringRecord, sameJson } from "./json_values.ts";
import { type ManagedFields, timestamp } from "./objects.ts";

/** The part of an object whose fields have owners: all that clients write of a ConfigMap. */
export interface OwnedContent {
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** A field of another manager that an apply would change. */
export interface FieldConflict {
  readonly owner: ManagedFields;
  readonly path: FieldPath;
}

interface Applied {
  readonly content: OwnedContent;
  readonly managedFields: readonly ManagedFields[];
  /** Not empty: the apply must be rejected, unless it was forced. */
  readonly conflicts: readonly FieldConflict[];
}

/** Managers of updates that are listed separately; older ones are merged into one. */
const MAX_UPDATE_MANAGERS = 10;

/**
 * Server-side apply ("Server-Side Apply" of the Kubernetes API): the fields that `manager` applies are merged and owned by
 * it, those it applied before and no longer does are removed unless another manager owns them, and a field that another
 * manager owns with another value is a conflict, or taken over by `force`. `now` in milliseconds.
 */
export function applyFields(
  live: OwnedContent | null,
  before: readonly ManagedFields[],
  applied: OwnedContent,
  manager: string,
  force: boolean,
  now: number,
): Applied {
  const current = fieldsOf(live);
  const wanted = fieldsOf(applied);
  const own = appliedSet(applied, wanted);
  const managers = readManagers(before);
  if (managers.length === 0 && current.size > 0) {
    // Fields without a known owner get one.
    const fields = new Set(current.keys());
    managers.push({ entry: entryOf("before-first-apply", "Update", now), fields });
  }
  const mine = managers.find(({ entry }) => isMine(entry, manager, "Apply"));
  const others = managers.filter((candidate) => candidate !== mine);
  const next = new Map([...current, ...wanted]);
  const owned = union([own, ...others.map(({ fields }) => fields)]);
  for (const path of mine?.fields.difference(owned) ?? []) next.delete(path);
  dropEmptySections(next);
  const difference = compared(current, next);
  // Members have owners of their own, so two managers may share a map.
  const changed = difference.changed.difference(SECTION_PATHS);
  const conflicts = others.flatMap(({ entry, fields }) =>
    [...fields.intersection(changed)].map((path) => ({ owner: entry, path }))
  );
  // A map that is empty now keeps its owners.
  const removed = difference.removed.difference(SECTION_PATHS);
  const taken = force ? removed.union(changed) : removed;
  const rest = others.map(({ entry, fields }) => ({ entry, fields: fields.difference(taken) }));
  const entry = mine?.fields.symmetricDifference(own).size === 0 ? mine.entry : entryOf(manager, "Apply", now);
  return {
    content: contentOf(next),
    managedFields: writeManagers([...rest, { entry, fields: own }]),
    conflicts: force ? [] : conflicts,
  };
}

/** The owners after `manager` has updated an object without apply: it alone owns the fields that it changed. */
export function updateFields(
  live: OwnedContent | null,
  before: readonly ManagedFields[],
  content: OwnedContent,
  manager: string,
  now: number,
): readonly ManagedFields[] {
  const { changed, removed } = compared(fieldsOf(live), fieldsOf(content));
  const managers = readManagers(before);
  const mine = managers.find(({ entry }) => isMine(entry, manager, "Update"));
  const others = managers.filter((candidate) => candidate !== mine)
    .map(({ entry, fields }) => ({ entry, fields: fields.difference(changed).difference(removed) }));
  const own = changed.union(mine?.fields.difference(removed) ?? new Set<FieldPath>());
  const entry = mine && changed.size === 0 ? mine.entry : entryOf(manager, "Update", now);
  return writeManagers(capped([...others, { entry, fields: own }]));
}

/**
 * The owners before a PUT or a patch is applied: those of its body, the stored ones where it has none, an empty list for
 * `[{}]`. null for a body with invalid entries.
 */
export function requestedOwners(given: unknown, known: readonly ManagedFields[]): readonly ManagedFields[] | null {
  if (given === undefined || given === null) return known;
  if (!Array.isArray(given)) return null;
  if (given.length === 0) return known;
  if (given.length === 1 && sameJson(given[0], {})) return [];
  return given.every(isEntry) ? given : null;
}

function isEntry(value: unknown): value is ManagedFields {
  return isObject(value) && typeof value.manager === "string" && typeof value.time === "string" &&
    (value.operation === "Apply" || value.operation === "Update") && typeof value.apiVersion === "string" &&
    value.fieldsType === "FieldsV1" && isObject(value.fieldsV1);
}

interface Manager {
  readonly entry: ManagedFields;
  readonly fields: FieldSet;
}

/** Maps whose members have owners of their own. */
const SECTIONS = [["metadata", "labels"], ["metadata", "annotations"], ["data"], ["binaryData"]] as const;
const SECTION_PATHS: FieldSet = new Set(SECTIONS.map((section) => fieldPath(...section)));
const IMMUTABLE = fieldPath("immutable");

/** Fields of a content with their values; a map that has members is a field too. */
function fieldsOf(content: OwnedContent | null): Map<FieldPath, unknown> {
  const fields = new Map<FieldPath, unknown>();
  for (const section of SECTIONS) {
    const members = Object.entries(sectionOf(content, section) ?? {});
    if (members.length > 0) fields.set(fieldPath(...section), "");
    for (const [name, value] of members) fields.set(fieldPath(...section, name), value);
  }
  if (content?.immutable !== undefined) fields.set(IMMUTABLE, content.immutable);
  return fields;
}

/** The fields that an apply of a content owns: its values, and its maps only where they are empty. */
function appliedSet(content: OwnedContent, fields: ReadonlyMap<FieldPath, unknown>): Set<FieldPath> {
  const own = new Set(fields.keys());
  for (const section of SECTIONS) {
    const members = sectionOf(content, section);
    if (members === undefined) continue;
    if (Object.keys(members).length === 0) own.add(fieldPath(...section));
    else own.delete(fieldPath(...section));
  }
  return own;
}

function sectionOf(content: OwnedContent | null, section: (typeof SECTIONS)[number]) {
  if (section.length === 2) return content?.metadata[section[1]];
  return content?.[section[0]];
}

function dropEmptySections(fields: Map<FieldPath, unknown>): void {
  for (const section of SECTIONS) {
    const path = fieldPath(...section);
    const inside = `${path.slice(0, -1)},`;
    if (![...fields.keys()].some((candidate) => candidate.startsWith(inside))) fields.delete(path);
  }
}

function contentOf(fields: ReadonlyMap<FieldPath, unknown>): OwnedContent {
  const membersOf = (section: (typeof SECTIONS)[number]) => {
    const inside = `${fieldPath(...section).slice(0, -1)},`;
    const members = [...fields].filter(([path]) => path.startsWith(inside))
      .map(([path, value]) => [JSON.parse(`[${path.slice(inside.length)}`)[0], value]);
    const record = Object.fromEntries(members);
    return members.length > 0 && isStringRecord(record) ? record : undefined;
  };
  const [labels, annotations, data, binaryData] = SECTIONS.map(membersOf);
  const immutable = fields.get(IMMUTABLE);
  return {
    metadata: { labels, annotations },
    ...(data && { data }),
    ...(binaryData && { binaryData }),
    ...(typeof immutable === "boolean" && { immutable }),
  };
}

function compared(before: ReadonlyMap<FieldPath, unknown>, after: ReadonlyMap<FieldPath, unknown>) {
  const changed = new Set([...after].filter(([path, value]) => before.get(path) !== value).map(([path]) => path));
  const removed = new Set([...before.keys()].filter((path) => !after.has(path)));
  return { changed, removed };
}

function isMine(entry: ManagedFields, manager: string, operation: ManagedFields["operation"]): boolean {
  return entry.manager === manager && entry.operation === operation;
}

function entryOf(manager: string, operation: ManagedFields["operation"], now: number): ManagedFields {
  return { manager, operation, apiVersion: "v1", time: timestamp(now), fieldsType: "FieldsV1", fieldsV1: {} };
}

function readManagers(managedFields: readonly ManagedFields[]): Manager[] {
  return managedFields.map((entry) => ({ entry, fields: readFieldSet(entry.fieldsV1) }));
}

/** In the order of the real API server, without managers that own nothing. */
function writeManagers(managers: readonly Manager[]): readonly ManagedFields[] {
  return managers.filter(({ fields }) => fields.size > 0)
    .map(({ entry, fields }) => ({ ...entry, fieldsV1: writeFieldSet(fields) }))
    .sort((a, b) =>
      compareText(a.operation, b.operation) || compareText(a.time, b.time) || compareText(a.manager, b.manager)
    );
}

function capped(managers: readonly Manager[]): readonly Manager[] {
  const updates = managers.filter(({ entry }) => entry.operation === "Update")
    .sort((a, b) => compareText(a.entry.time, b.entry.time));
  const surplus = updates.slice(0, Math.max(0, updates.length - MAX_UPDATE_MANAGERS + 1));
  if (updates.length <= MAX_UPDATE_MANAGERS) return managers;
  const { entry } = surplus[surplus.length - 1];
  const ancient = {
    entry: { ...entry, manager: "ancient-changes" },
    fields: union(surplus.map(({ fields }) => fields)),
  };
  return [...managers.filter((manager) => !surplus.includes(manager)), ancient];
}

function union(sets: readonly FieldSet[]): FieldSet {
  return new Set(sets.flatMap((set) => [...set]));
}
