import { folded, type NamePage } from "@/embedded/store/names.ts";
import { quotaBytes } from "@/embedded/store/quotas.ts";
import { invalid } from "./mapi_request.ts";

/** Longest text of a filter. */
const MAX_FILTER_LENGTH = 64;

/** A record of a list, and the members by which it may be sorted or filtered. */
type Listed = Record<string, unknown>;

/**
 * The part of a list that its parameters select: filtered by a prefix without case, sorted, then paged. Sorts and
 * filters by the list's identifying member unless the parameters name another one.
 *
 * @throws {MapiError} 400
 */
export function selected<R extends Listed>(records: readonly R[], query: URLSearchParams, identity: string): R[] {
  const { filterType, filter, sortType, isDescending, offset, count } = parametersOf(query, identity);
  const matching = filter === ""
    ? [...records]
    : records.filter((record) => matches(member(record, filterType), filter));
  const direction = isDescending ? -1 : 1;
  matching.sort((a, b) => direction * compareBy(sortType, a, b));
  return matching.slice(offset, offset + count);
}

/**
 * The same as a page of the index, so that a long list is not read for each of its pages; null where the parameters use
 * members other than the name.
 *
 * @throws {MapiError} 400
 */
export function pageByName(query: URLSearchParams, identity: string): NamePage | null {
  const { filterType, filter, sortType, isDescending, offset, count } = parametersOf(query, identity);
  if (sortType !== identity || (filter !== "" && filterType !== identity)) return null;
  return { prefix: folded(filter), isDescending, offset, count: Math.min(count, Number.MAX_SAFE_INTEGER) };
}

function parametersOf(query: URLSearchParams, identity: string) {
  const filter = query.get("filterString") ?? "";
  if ([...filter].length > MAX_FILTER_LENGTH || filter.includes(",")) {
    throw invalid("filterString", "must be at most 64 characters without commas");
  }
  return {
    filterType: query.get("filterType") ?? identity,
    filter,
    sortType: query.get("sortType") ?? identity,
    isDescending: sortDirection(query.get("sortOrder")) < 0,
    offset: wholeNumber(query.get("offset"), "offset") ?? 0,
    count: wholeNumber(query.get("count"), "count") ?? Infinity,
  };
}

/** Whether a query requests full records. Any value but a true one means no. */
export function isVerbose(query: URLSearchParams): boolean {
  return ["true", "t", "1"].includes(query.get("verbose") ?? "");
}

function matches(value: unknown, filter: string): boolean {
  const values = Array.isArray(value) ? value : [value];
  return values.some((one) => String(one ?? "").toLowerCase().startsWith(filter.toLowerCase()));
}

/** A record's member as the parameters name it: `tag` is one of its tags. */
function member(record: Listed, name: string): unknown {
  if (name !== "tag") return Object.hasOwn(record, name) ? record[name] : undefined;
  const { tags } = record;
  return typeof tags === "object" && tags !== null && "tag" in tags ? tags.tag : undefined;
}

function compareBy(name: string, a: Listed, b: Listed): number {
  if (name === "hardQuota") return quotaBytes(String(a.hardQuota)) - quotaBytes(String(b.hardQuota)) || 0;
  const [x, y] = [a, b].map((record) => member(record, name) ?? "");
  return typeof x === "number" && typeof y === "number" ? x - y : compare(String(x), String(y));
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
  if (!/^[0-9]+$/.test(text)) throw invalid(name, "must be a whole number from 0");
  // Any list ends before that, and the index takes no larger number.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
