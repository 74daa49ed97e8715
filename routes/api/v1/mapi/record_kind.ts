import { listQuery, storeListQuery, verboseQuery } from "@/lib/mapi/records/lists.ts";
import { DELETED, UPDATED } from "./change_results.ts";

type Names = Readonly<Record<string, string>>;

/** A kind of records of the store: their list, to which new ones are added, and each of them by its name. */
interface RecordKind {
  readonly tag: string;
  /** One of them and several, such as `user account` and `user accounts`: operations are called after them. */
  readonly nouns: readonly [one: string, several: string];
  /** Path of the list. */
  readonly path: string;
  /** The parameter with the name of one of them. */
  readonly parameter: string;
  /** What errors call one of them before its name, where that is not its noun. */
  readonly label?: string;
  /** Summaries of operations of which more is to be said. */
  readonly summaries?: Partial<Record<"list" | "create" | "get" | "delete", string>>;
}

/** What all kinds of records have in common: the operations on them as far as they follow from what the kind is. */
export function recordKind({ tag, nouns: [one, several], path, parameter, label = one, summaries }: RecordKind) {
  const [id, ids] = [one, several].map((noun) => noun.replaceAll(" ", "_"));
  const resource = (names: Names) => `${label} '${names[parameter]}'`;
  const record = { path: `${path}/{${parameter}}`, tag, resource };
  return {
    record,
    list: {
      id: `list_${ids}`,
      path,
      tag,
      summary: summaries?.list ?? `List ${several}`,
      resource: () => several,
      query: listQuery,
      forward: storeListQuery,
      isList: true,
    },
    create: {
      id: `create_${id}`,
      method: "PUT",
      path,
      tag,
      summary: summaries?.create ?? `Create a ${one}`,
      resource: () => one,
    },
    get: { id: `get_${id}`, ...record, summary: summaries?.get ?? `A ${one}`, query: verboseQuery },
    head: { id: `head_${id}`, ...record, summary: `Whether a ${one} exists` },
    update: { id: `update_${id}`, method: "POST", ...record, summary: `Change a ${one}`, ...UPDATED },
    delete: {
      id: `delete_${id}`,
      method: "DELETE",
      ...record,
      summary: summaries?.delete ?? `Delete a ${one}`,
      ...DELETED,
    },
  } as const;
}
