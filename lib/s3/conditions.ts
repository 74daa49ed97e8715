import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders, type HeaderRecord, resourceOf, type S3, type S3Call } from "./s3_client.ts";
import type { ConditionalWrite, ConditionTable, WriteCondition } from "./store_kind.ts";
import { S3Failure } from "./s3_errors.ts";

/** An entity tag without its quotes. */
interface EntityTag {
  readonly tag: string;
  readonly isWeak: boolean;
}

type TagList = "*" | readonly EntityTag[];

/** The conditions of a request on one object (RFC 9110, section 13.1); times are ms since 1970. */
export interface Preconditions {
  /** Their headers, for error messages. */
  readonly names: readonly string[];
  readonly ifMatch: TagList | null;
  readonly ifNoneMatch: TagList | null;
  readonly unmodifiedSince: number | null;
  /** Only of the source of a copy: writes ignore it (RFC 9110, section 13.1.3). */
  readonly modifiedSince: number | null;
}

/** The state of a present object, which conditions compare. */
export interface ObjectState {
  /** With its quotes; null if the store stated none. */
  readonly etag: string | null;
  /** ms since 1970; null if the store stated no valid time. */
  readonly modifiedMs: number | null;
}

/** Conditions on the source of a copy have this prefix. */
const SOURCE = "x-amz-copy-source-";
const TARGET_NAMES = ["if-match", "if-none-match", "if-unmodified-since"] as const;
const SOURCE_NAMES = [...TARGET_NAMES, "if-modified-since"].map((name) => SOURCE + name);
/** Conditions of S3's directory buckets, which no operation takes here. */
const OTHER_NAMES = ["x-amz-if-match-last-modified-time", "x-amz-if-match-size", "x-amz-if-match-initiated-time"];

/**
 * The conditions on the object that a request changes; null where it has none.
 *
 * @throws HttpError 400 naming a header that is malformed
 */
export function preconditions(headers: Headers): Preconditions | null {
  return conditionsOf(headers, "", TARGET_NAMES);
}

/** The same of the source of a copy. */
export function sourcePreconditions(headers: Headers): Preconditions | null {
  return conditionsOf(headers, SOURCE, SOURCE_NAMES);
}

function conditionsOf(headers: Headers, prefix: string, known: readonly string[]): Preconditions | null {
  const names = known.filter((name) => headers.has(name));
  if (names.length === 0) return null;
  const read = <T>(name: string, parse: (text: string) => T | null, form: string): T | null => {
    const header = prefix + name;
    if (!names.includes(header)) return null;
    return parse((headers.get(header) ?? "").trim()) ?? refuse(`${header}: must be ${form}`);
  };
  return {
    names,
    ifMatch: read("if-match", tagList, "* or a list of ETags"),
    ifNoneMatch: read("if-none-match", tagList, "* or a list of ETags"),
    unmodifiedSince: read("if-unmodified-since", httpDate, "an HTTP date"),
    modifiedSince: read("if-modified-since", httpDate, "an HTTP date"),
  };
}

function refuse(detail: string): never {
  throw badRequest(detail);
}

/**
 * Rejects conditions that an operation does not hold: ignored, they would not protect what the caller relies on.
 *
 * @param takes which conditions the operation holds
 * @throws HttpError 501
 */
export function rejectConditions(headers: Headers, takes: "none" | "target" | "target and source"): void {
  const rejected = [
    ...(takes === "none" ? TARGET_NAMES : []),
    ...(takes === "target and source" ? [] : SOURCE_NAMES),
    ...OTHER_NAMES,
  ];
  const name = rejected.find((name) => headers.has(name));
  if (name !== undefined) throw new HttpError(501, `${name}: this operation does not support the condition`);
}

/** One element of a list of ETags. Clients of S3 write them without quotes, too. */
const ELEMENT = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e]*)"|(?!W\/)([\x21\x23-\x29\x2b\x2d-\x7e]+))?[ \t]*(?:,|$)/y;

function tagList(text: string): TagList | null {
  if (text === "*") return "*";
  const tags: EntityTag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < text.length) {
    const match = ELEMENT.exec(text);
    if (!match) return null;
    const tag = match[2] ?? match[3];
    // A list may have empty elements (RFC 9110, section 5.6.1.2).
    if (tag !== undefined) tags.push({ tag, isWeak: match[1] !== undefined });
  }
  return tags.length === 0 ? null : tags;
}

/** The three forms of a date (RFC 9110, section 5.6.7). */
const HTTP_DATE = new RegExp(
  "^(?:[A-Z][a-z]{2}, (\\d{2}) [A-Z][a-z]{2} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT" +
    "|[A-Z][a-z]{5,8}, (\\d{2})-[A-Z][a-z]{2}-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT" +
    "|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \\d]\\d) \\d{2}:\\d{2}:\\d{2} \\d{4})$",
);

function httpDate(text: string): number | null {
  const match = HTTP_DATE.exec(text);
  if (!match) return null;
  const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  // The 31st of February would become a day in March.
  return new Date(ms).getUTCDate() === Number(match[1] ?? match[2] ?? match[3]) ? ms : null;
}

/** Whether conditions hold for an object, or for none (RFC 9110, section 13.2.2). */
export function holds(conditions: Preconditions, current: ObjectState | null): boolean {
  const { ifMatch, ifNoneMatch, unmodifiedSince, modifiedSince } = conditions;
  // HTTP dates have whole seconds.
  const seconds = current?.modifiedMs == null ? null : Math.floor(current.modifiedMs / 1000);
  if (ifMatch) {
    if (!listed(ifMatch, current, false)) return false;
  } else if (unmodifiedSince !== null && seconds !== null && seconds > unmodifiedSince / 1000) return false;
  if (ifNoneMatch) return !listed(ifNoneMatch, current, true);
  return modifiedSince === null || seconds === null || seconds > modifiedSince / 1000;
}

/** Whether an object's ETag is in a list, compared weakly or strongly (RFC 9110, section 8.8.3.2). */
function listed(list: TagList, current: ObjectState | null, isWeakly: boolean): boolean {
  if (list === "*" || current === null) return current !== null;
  const [own] = current.etag === null ? [] : entityTags(current.etag);
  return own !== undefined &&
    list.some(({ tag, isWeak }) => tag === own.tag && (isWeakly || !(isWeak || own.isWeak)));
}

function entityTags(etag: string): readonly EntityTag[] {
  const tags = tagList(etag.trim());
  return tags === null || tags === "*" ? [] : tags;
}

/** The state of an object by the headers of a HEAD. */
export function stateOf(headers: Headers): ObjectState {
  const ms = Date.parse(headers.get("last-modified") ?? "");
  return { etag: headers.get("etag"), modifiedMs: Number.isNaN(ms) ? null : ms };
}

type Place = Required<Pick<S3Call, "bucket" | "key">>;

/** @throws HttpError 412 where conditions do not hold */
export function requireConditions(conditions: Preconditions | null, current: ObjectState | null, place: Place): void {
  if (conditions === null || holds(conditions, current)) return;
  throw new HttpError(412, `${resourceOf(place)}: At least one of the pre-conditions you specified did not hold`);
}

/**
 * The header by which the store itself holds a caller's conditions at the moment of a write. One strong ETag, and
 * `If-None-Match: *`, are passed on. Stores understand lists, dates, `If-Match: *` and weak ETags differently or not at
 * all: these are compared here, and the write then depends on what was compared.
 *
 * @param writes the operations of the store that may make the write
 * @throws HttpError 412 where they do not hold, 501 where the store would ignore the header, else as {@link callS3ForHeaders}
 */
export async function guardWrite(
  s3: S3,
  caller: Caller,
  place: Place,
  { writes, conditions }: { readonly writes: readonly ConditionalWrite[]; readonly conditions: Preconditions | null },
): Promise<HeaderRecord> {
  if (conditions === null) return {};
  const direct = directGuard(conditions);
  const needed = direct ? Object.keys(direct) as WriteCondition[] : ["if-match", "if-none-match"] as const;
  requireSupport(await s3.conditions?.(caller, place), writes, needed, conditions);
  if (direct) return direct;
  const headers = await currentHeaders(s3, caller, place);
  const current = headers && stateOf(headers);
  requireConditions(conditions, current, place);
  return current === null ? ABSENT : unchanged(current, place);
}

/** The header that holds where a key has no object. */
export const ABSENT: HeaderRecord = { "if-none-match": "*" };

/** The header that holds while an object stays as it is. @throws HttpError 502 where the store named no ETag */
export function unchanged({ etag }: ObjectState, place: Place): HeaderRecord {
  if (!etag) throw badGateway(`${resourceOf(place)}: the store's response has no ETag`);
  return { "if-match": etag };
}

function directGuard({ names, ifMatch, ifNoneMatch }: Preconditions): HeaderRecord | null {
  if (names.length !== 1) return null;
  if (ifNoneMatch === "*") return ABSENT;
  if (!ifMatch || ifMatch === "*" || ifMatch.length !== 1 || ifMatch[0].isWeak) return null;
  return { "if-match": `"${ifMatch[0].tag}"` };
}

/** @throws HttpError 501 where the store does not hold one of the headers for one of the writes */
export function requireSupport(
  table: ConditionTable | null | undefined,
  writes: readonly ConditionalWrite[],
  headers: readonly WriteCondition[],
  { names }: Preconditions,
): void {
  if (writes.every((write) => headers.every((header) => table?.[write].includes(header)))) return;
  throw unsupported(names);
}

/** 501: the store would ignore a condition. */
export function unsupported(names: readonly string[]): HttpError {
  return new HttpError(501, `${names.join(", ")}: the store does not support the condition for this operation`);
}

/** The headers of a key's current object; null where it has none. @throws HttpError as {@link callS3ForHeaders} */
export async function currentHeaders(s3: S3, caller: Caller, { bucket, key }: Place): Promise<Headers | null> {
  try {
    return await callS3ForHeaders(s3, caller, { operation: "HeadObject", method: "HEAD", bucket, key });
  } catch (error) {
    if (error instanceof S3Failure && error.storeStatus === 404) return null;
    throw error;
  }
}
