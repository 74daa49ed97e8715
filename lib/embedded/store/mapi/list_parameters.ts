import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";

/** Longest text of a filter. */
const MAX_FILTER_LENGTH = 64;

/** A record of a list, and the members by which it may be sorted or filtered. */
export type Listed = Record<string, unknown>;

/**
 * The part of a list that its parameters ask for: filtered by a prefix without case, sorted, then paged. The list's
 * identifying member is what sorts and filters unless the parameters say otherwise.
 */
export function selected<R extends Listed>(records: readonly R[], query: URLSearchParams, identity: string): R[] {
  const filterType = query.get("filterType") ?? identity;
  const filter = query.get("filterString") ?? "";
  if (filter.length > MAX_FILTER_LENGTH || filter.includes(",")) {
    throw invalid("filterString", "must be at most 64 characters without commas");
  }
  const sortType = query.get("sortType") ?? identity;
  const direction = sortDirection(query.get("sortOrder"));
  const matching = filter === "" ? [...records] : records.filter((record) => matches(record[filterType], filter));
  matching.sort((a, b) => direction * compare(String(a[sortType] ?? ""), String(b[sortType] ?? "")));
  const offset = wholeNumber(query.get("offset"), "offset") ?? 0;
  const count = wholeNumber(query.get("count"), "count") ?? matching.length;
  return matching.slice(offset, offset + count);
}

/** Whether a query asks for full records. Anything that is not a true value is false. */
export function isVerbose(query: URLSearchParams): boolean {
  return ["true", "t", "1"].includes(query.get("verbose") ?? "");
}

function matches(value: unknown, filter: string): boolean {
  const values = Array.isArray(value) ? value : [value];
  return values.some((one) => String(one ?? "").toLowerCase().startsWith(filter.toLowerCase()));
}

function compare(a: string, b: string): number {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()];
  return x < y ? -1 : x > y ? 1 : 0;
}

function sortDirection(order: string | null): 1 | -1 {
  if (order === null || order === "ascending" || order === "asc") return 1;
  if (order === "descending" || order === "desc") return -1;
  throw invalid("sortOrder", "must be ascending or descending");
}

function wholeNumber(text: string | null, name: string): number | null {
  if (text === null || text === "") return null;
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid(name, "must be a whole number from 0");
  return Number(text);
}
