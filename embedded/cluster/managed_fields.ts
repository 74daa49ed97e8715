import { compareText } from "@/lib/std/text.ts";
import { isObject, member } from "@/lib/std/untrusted.ts";
import { type ConfigMap, type ManagedFields, timestamp } from "./kube_objects.ts";

/** The part of a ConfigMap whose fields have owners: all that clients write of it. */
export type OwnedContent = Pick<ConfigMap, "data"> & {
  readonly metadata: Pick<ConfigMap["metadata"], "labels" | "annotations" | "managedFields">;
};

/** A field of another manager that an apply would change, such as `.data.phase`. */
export interface FieldConflict {
  readonly manager: string;
  readonly field: string;
}

/**
 * Server-side apply ("Server-Side Apply" of the Kubernetes API), without owners of other writes: the fields that `manager`
 * applies are merged and owned by it, those it applied before and no longer does are removed unless another manager owns
 * them, and a field that another manager applied with another value is a conflict, or taken over by `force`. An apply with
 * conflicts must be rejected.
 *
 * @param now ms since 1970
 */
export function applyFields(
  live: OwnedContent | null,
  applied: OwnedContent,
  { manager, force, now }: { readonly manager: string; readonly force: boolean; readonly now: number },
): { readonly content: OwnedContent; readonly conflicts: readonly FieldConflict[] } {
  const entries = live?.metadata.managedFields ?? [];
  const current = fieldsOf(live);
  const wanted = fieldsOf(applied);
  const isChanged = (field: string) => wanted.has(field) && wanted.get(field) !== current.get(field);
  const before = entries.find((entry) => entry.manager === manager);
  const others = entries.filter((entry) => entry !== before).map((entry) => {
    const fields = readOwned(entry);
    return { entry, fields, disputed: fields.filter(isChanged) };
  });
  const next = new Map([...current, ...wanted]);
  const isShared = (field: string) => others.some(({ fields }) => fields.includes(field));
  const mine = before ? readOwned(before) : [];
  for (const field of mine) if (!wanted.has(field) && !isShared(field)) next.delete(field);
  const own = [...wanted.keys()];
  const isSame = before && mine.length === own.length && mine.every((field) => wanted.has(field));
  const managedFields = [
    ...others.map(({ entry, fields }) => ownedEntry(entry, fields.filter((field) => !isChanged(field)))),
    isSame ? before : ownedEntry({ manager, time: timestamp(now) }, own),
  ];
  const conflicts = others.flatMap(({ entry, disputed }) =>
    disputed.map((field) => ({ manager: entry.manager, field: shown(field) }))
  );
  return { content: contentOf(next, managedFields), conflicts: force ? [] : conflicts };
}

/** The owners once a write of another kind has replaced an object: none of a field that it changed or removed. */
export function ownersAfterWrite(live: OwnedContent | null, content: OwnedContent): OwnedContent["metadata"] {
  const [before, after] = [fieldsOf(live), fieldsOf(content)];
  const managedFields = (live?.metadata.managedFields ?? []).map((entry) =>
    ownedEntry(entry, readOwned(entry).filter((field) => before.get(field) === after.get(field)))
  );
  return { managedFields: listed(managedFields) };
}

/** The maps whose members have owners. A field is named by its map and its key there: `data/phase`. */
const MAPS = ["labels", "annotations", "data"] as const;

function fieldsOf(content: OwnedContent | null): Map<string, string> {
  return new Map(
    MAPS.flatMap((map) => {
      const members = map === "data" ? content?.data : content?.metadata[map];
      return Object.entries(members ?? {}).map(([key, value]): [string, string] => [`${map}/${key}`, value]);
    }),
  );
}

function contentOf(fields: ReadonlyMap<string, string>, managedFields: readonly ManagedFields[]): OwnedContent {
  const [labels, annotations, data] = MAPS.map((map) => membersOf(fields, map));
  return { metadata: { labels, annotations, managedFields: listed(managedFields) }, ...(data && { data }) };
}

function membersOf<T>(fields: Iterable<readonly [string, T]>, map: string): Record<string, T> | undefined {
  const inside = `${map}/`;
  const members = [...fields].filter(([field]) => field.startsWith(inside))
    .map(([field, value]) => [field.slice(inside.length), value]);
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function shown(field: string): string {
  const cut = field.indexOf("/");
  const map = field.slice(0, cut);
  return `${map === "data" ? "" : ".metadata"}.${map}.${field.slice(cut + 1)}`;
}

/** An entry of `managedFields` (format FieldsV1): `f:` before each name. */
function ownedEntry({ manager, time }: Pick<ManagedFields, "manager" | "time">, fields: readonly string[]) {
  const named = [...fields].sort().map((field): [string, object] => [field.replace("/", "/f:"), {}]);
  const [labels, annotations, data] = MAPS.map((map) => membersOf(named, map));
  const metadata = { ...(labels && { "f:labels": labels }), ...(annotations && { "f:annotations": annotations }) };
  const fieldsV1 = { ...(data && { "f:data": data }), ...((labels ?? annotations) && { "f:metadata": metadata }) };
  return { manager, operation: "Apply", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1 } as const;
}

function readOwned({ operation, fieldsV1 }: ManagedFields): string[] {
  // A state of an earlier version may hold the owners of other writes, too.
  if (operation !== "Apply") return [];
  return MAPS.flatMap((map) => {
    const names = map === "data" ? ["f:data"] : ["f:metadata", `f:${map}`];
    const node = member(fieldsV1, ...names);
    return Object.keys(isObject(node) ? node : {}).filter((name) => name.startsWith("f:"))
      .map((name) => `${map}/${name.slice(2)}`);
  });
}

/** In a fixed order, without managers that own nothing; undefined without any. */
function listed(managedFields: readonly ManagedFields[]): readonly ManagedFields[] | undefined {
  const owning = managedFields.filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0);
  return owning.length > 0 ? owning.sort((a, b) => compareText(a.manager, b.manager)) : undefined;
}
