import { z } from "zod";
import { FILTER } from "./store_rules.ts";

/** The query of a request to the management API. Members that are undefined are left out; the others go in this order. */
export type StoreQuery = Readonly<Record<string, string | number | boolean | undefined>>;

const SORT_ORDERS = { asc: "ascending", desc: "descending", ascending: "ascending", descending: "descending" } as const;

/** `verbose` alone, for single records. */
export const verboseQuery = z.object({
  verbose: z.boolean().default(false).meta({ description: "Return all members, not only those that can be changed" }),
});

/** The query of every list (spec, Query parameters accepted by every list endpoint). */
export const listQuery = z.object({
  offset: z.int().min(0).optional().meta({ description: "Zero-based position of the first entry" }),
  count: z.int().min(0).optional().meta({ description: "Most entries to return" }),
  sortType: z.string().optional().meta({ description: "Member to sort by" }),
  sortOrder: z.enum(["asc", "desc", "ascending", "descending"]).optional(),
  filterType: z.string().optional().meta({ description: "Member to filter on" }),
  filterString: z.string().meta({ ...FILTER }).optional().meta({
    description: "What the member begins with, without regard to case",
  }),
  verbose: z.boolean().default(false).meta({ description: "Return full records instead of names" }),
});

type ListQuery = z.output<typeof listQuery>;

/** A list's query as the store wants it: HCP spells the sort orders out. */
export function storeListQuery({ sortOrder, ...query }: ListQuery): StoreQuery {
  return { ...query, sortOrder: sortOrder && SORT_ORDERS[sortOrder] };
}

/** A list whose names are under `member`: names, or records where the store returns an array of them. */
function listOf(id: string, member: string) {
  return z.union([
    z.array(z.record(z.string(), z.unknown())),
    z.looseObject({ [member]: z.array(z.string()).nullable().default(null) }),
  ]).meta({ id, description: "Names, or an array of full records with `verbose=true`" });
}

export const nameList = listOf("NameList", "name");
export const usernameList = listOf("UsernameList", "username");
export const groupnameList = listOf("GroupnameList", "groupname");
