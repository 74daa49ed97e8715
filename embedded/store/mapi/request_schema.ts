import { z } from "zod";
import { folded, isDistinctName, isPathSegment, type NamePage } from "@/embedded/store/names.ts";
import { quotaBytes } from "@/embedded/store/stored_buckets.ts";
import { compareText } from "@/lib/std/text.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { invalid, only } from "./mapi_request.ts";

/** Most entries of a list of words. */
export const MAX_WORDS = 100;

/** Most entries of a list of names. */
export const MAX_NAMES = 10_000;

const BOOLEANS = new Map<unknown, boolean>([
  ...["true", "t", "1", 1].map((text) => [text, true] as const),
  ...["false", "f", "0", 0].map((text) => [text, false] as const),
]);

const QUOTA = /^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})? (?:MB|GB|TB)$/;

/**
 * A value as its schema reads it.
 *
 * @param at the name of the value, where it is not a whole body
 * @throws {MapiError} 400 with the path of the first member that does not fit, and its rule
 */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, at?: string): T {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [{ path, message }] = error.issues;
  throw invalid(z.core.toDotPath(at === undefined ? path : [at, ...path]) || "The body", message);
}

/** The error of a schema: what a value must be, or that it is required where it is absent. */
export function rule(text: string) {
  return { error: ({ input }: { readonly input?: unknown }) => input === undefined ? "is required" : text };
}

/** A record: members that may be left out, and those that may not. Null counts as left out; unknown members are dropped. */
export function members<O extends z.ZodRawShape, R extends z.ZodRawShape = Record<never, never>>(
  optional: O,
  required?: R,
) {
  const record = z.object(required ?? {} as R, rule("must be an object")).extend(z.object(optional).partial().shape);
  const names = Object.keys(record.shape);
  const stated = (value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(only(value, names)).filter(([, one]) => one !== null)) : value;
  return z.preprocess(stated, record);
}

/** Text within bounds of its length in code points, without control characters except line ends and tabs. */
export function text(longest: number, shortest = 0) {
  return z.string(rule("must be a string")).refine((value) => {
    const { length } = [...value];
    // deno-lint-ignore no-control-regex
    return length >= shortest && length <= longest && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(value);
  }, `must have ${shortest} to ${longest} printable characters`);
}

/** A name that a path can carry. */
export function pathName(pattern: RegExp, requirement: string) {
  return z.string(rule(requirement)).refine((name) => pattern.test(name) && isPathSegment(name), requirement);
}

/** A name for something new: existing ones that could be taken for others stay usable. */
export function newName(pattern: RegExp, requirement: string) {
  return pathName(pattern, requirement).refine(
    isDistinctName,
    "must be in Unicode form NFKC (so without full-width characters), without invisible characters, and without " +
      "blanks at its ends or twice in a row",
  );
}

/** The name of a class. */
export const className = newName(/^[^\p{Cc}]{1,64}$/u, "must have 1 to 64 characters, and be neither . nor ..");

/** True or false, also in the store's short spellings. */
export const boolean = z.preprocess((value) => BOOLEANS.get(value) ?? value, z.boolean(rule("must be true or false")));

/** The same member for several names. */
export function each<N extends string, S>(names: readonly N[], schema: S): Record<N, S> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<N, S>;
}

/** A whole number within bounds, also as a string of digits. */
export function integer(least: number, most: number) {
  const bounds = rule(`must be a whole number from ${least} to ${most}`);
  const fromDigits = (value: unknown) =>
    typeof value === "string" && /^[0-9]{1,10}$/.test(value) ? Number(value) : value;
  return z.preprocess(fromDigits, z.int(bounds).min(least, bounds).max(most, bounds));
}

/** A storage size such as `100 GB`. */
export const quota = z.string(rule("must be a number, a space and MB, GB or TB"))
  .regex(QUOTA, "must be a number, a space and MB, GB or TB")
  .refine((size) => quotaBytes(size) >= 1024 ** 3, "must be at least 1 GB");

/** One of a few words. */
export function oneOf<const W extends readonly string[]>(...words: W) {
  return z.enum(words, rule(`must be one of ${words.join(", ")}`));
}

/** One of a few words in any case, as it is spelled here. */
export function oneOfAnyCase(...words: readonly string[]) {
  const spelled = (value: unknown) =>
    typeof value === "string" ? words.find((word) => word.toLowerCase() === value.toLowerCase()) ?? value : value;
  return z.preprocess(spelled, oneOf(...words));
}

/** A list. Its length is checked before its entries are. */
export function list<S extends z.ZodType>(
  entry: S,
  most: number,
  requirement = `must be a list of at most ${most} entries`,
) {
  const isShort = (value: unknown) => Array.isArray(value) && value.length <= most;
  return z.custom<unknown[]>(isShort, rule(requirement)).pipe(z.array(entry));
}

/** A list with the store's wrapping, such as `{"name": […]}`, or without; read as one without it. */
export function listed<S extends z.ZodType>(name: string, entry: S, most: number) {
  return z.preprocess((value) => unwrapped(name, value), list(entry, most));
}

/** A list in the store's wrapping, read as one without repetitions. */
export function wrapped<N extends string, S extends z.ZodType>(name: N, entry: S, most = MAX_WORDS) {
  const entries = list(entry, most, `must be an object with the list ${name}, of at most ${most} entries`);
  return z.preprocess((value) => Array.isArray(value) ? null : unwrapped(name, value), entries)
    .transform((all) => ({ [name]: [...new Set(all)] }) as Record<N, z.output<S>[]>);
}

/** A list of names, without repetitions. */
export const names = listed("name", z.string("must be a string"), MAX_NAMES).transform((all) => [...new Set(all)]);

/** Tags, by which lists are filtered. */
export const tags = wrapped(
  "tag",
  z.string("must be a string").regex(/^[^,]{1,64}$/u, "must have 1 to 64 characters, without commas"),
);

function unwrapped(name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.hasOwn(value, name) ? value[name] : null;
}

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
    isDescending: isDescending(query.get("sortOrder") ?? "ascending"),
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
  return typeof x === "number" && typeof y === "number"
    ? x - y
    : compareText(String(x).toLowerCase(), String(y).toLowerCase());
}

function isDescending(order: string): boolean {
  if (/^(?:ascending|asc|descending|desc)$/.test(order)) return order.startsWith("desc");
  throw invalid("sortOrder", "must be ascending or descending");
}

function wholeNumber(text: string | null, name: string): number | null {
  if (text === null || text === "") return null;
  if (!/^[0-9]+$/.test(text)) throw invalid(name, "must be a whole number from 0");
  // Any list ends before that, and the index takes no larger number.
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
