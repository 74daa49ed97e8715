import { HttpError } from "@/lib/http/errors.ts";
import {
  BYTES_PER_MB,
  FIXITY_FIELDS,
  fixityBody,
  type FixityField,
  type FixityFields,
  LEAST_RATE,
} from "@/lib/pages/storage/fixity_fields.ts";
import { ALL_SENTENCES, invalidText } from "@/lib/pages/coded_check_sentences.ts";
import { codedAt, translated } from "@/lib/pages/coded_sentences.ts";
import {
  type Expected,
  expectedOf,
  FIELD_LABELS,
  type FixityCheck,
  fixityCheckOf,
  fixityChecksOf,
  resultsOf,
  type RowFilter,
  rowFilterOf,
  START_PROBLEMS,
} from "@/lib/pages/storage/fixity_check.ts";
import { outageSentence, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { clip, entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { readRowPage, type RowPage } from "@/lib/tasks/fixity/report_page.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import type { StorageDeps } from "./logins.ts";
import type { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import { LoginEnded, type StorageVisit } from "./storage_visit.ts";

/** Why a form was rejected, the field at fault, and the status of the page that shows it. */
export interface SentProblem {
  readonly status: number;
  /** null: the whole form. */
  readonly field: FixityField | null;
  readonly text: string;
}

/** Requests for the checks of buckets at a time. */
const CONCURRENCY = 8;
/** The gateway's response to an invalid name of a bucket. */
const NO_NAME = { status: 422, found: null };
/** The highest rate that a form takes, MB per second. */
const MOST_RATE = 1_000_000;
const MAX_MESSAGE = 300;

/** Starts a check. @returns its id, or why it was not started */
export async function startCheck(visit: StorageVisit, fields: FixityFields): Promise<string | SentProblem> {
  const { bucket } = fields;
  if (bucket === "") return { status: 422, field: "bucket", text: START_PROBLEMS.noBucket };
  const path = checksPath(bucket);
  if (path === null) return { status: 404, field: "bucket", text: START_PROBLEMS.missing };
  const rate = rateOf(fields.rate);
  if (rate === undefined) return { status: 422, field: "rate", text: START_PROBLEMS.rate(LEAST_RATE) };
  const { status, json } = await visit.send("POST", path, fixityBody(fields, rate));
  const task = stringAt(json, "task_id");
  return status === 202 && task !== null ? task : problemOf(status, json, fields);
}

/** Cancels a check; one that has ended meanwhile, or is gone, is shown as such by its page. */
export async function cancelCheck(visit: StorageVisit, bucket: string, task: string): Promise<void> {
  const path = checksPath(bucket, task);
  if (path !== null) await visit.send("DELETE", path);
}

/** Bytes per second; null: as fast as the server allows; undefined for what is no rate. */
function rateOf(text: string): number | null | undefined {
  const typed = text.trim().replace(",", ".");
  if (typed === "") return null;
  const rate = Number(typed);
  return rate >= LEAST_RATE && rate <= MOST_RATE ? Math.round(rate * BYTES_PER_MB) : undefined;
}

function problemOf(status: number, json: unknown, { manifest }: FixityFields): SentProblem {
  const whole = (text: string): SentProblem => ({ status: status >= 400 ? status : 502, field: null, text });
  const { field, message } = saidIn(json);
  switch (status) {
    case 403:
      // Either of two buckets may be the one.
      if (manifest !== "" && message !== "") return whole(START_PROBLEMS.other(message));
      return { status, field: "bucket", text: START_PROBLEMS.forbidden };
    case 404:
      return { status, field: "bucket", text: START_PROBLEMS.missing };
    case 429:
      return whole(START_PROBLEMS.tooMany);
    default:
      if (outageSentence(status) !== null || message === "") return whole(storageProblem(status, "folder"));
      if (field === null) return whole(START_PROBLEMS.other(message));
      return { status, field, text: START_PROBLEMS.said(FIELD_LABELS[field], message) };
  }
}

/** The message of a 4xx response and the field that it is about, by a list of problems or by `field: message`. */
function saidIn(json: unknown): { field: FixityField | null; message: string } {
  const [first] = entries(member(json, "detail"));
  const detail = stringAt(json, "detail") ?? "";
  const [, ofDetail, rest] = /^([a-z_]{1,40}): (.*)$/s.exec(detail) ?? [];
  const named = entries(member(first, "loc")).at(-1) ?? ofDetail;
  const field = FIXITY_FIELDS.find((one) => one === named) ?? null;
  const message = invalidText(first) ||
    translated({ text: field === null ? detail : rest, coded: codedAt(json) }, ALL_SENTENCES);
  return { field, message: clip(message, MAX_MESSAGE) };
}

/**
 * The path of a bucket's fixity checks below `/api/v1`, or of one of them; null for names that cannot be a segment of a path:
 * it would be another path.
 */
function checksPath(bucket: string, task?: string): string | null {
  const names = task === undefined ? [bucket] : [bucket, task];
  if (names.some((name) => /^\.{0,2}$/.test(name))) return null;
  return ["/buckets", encodeURIComponent(bucket), "fixity", ...task === undefined ? [] : [encodeURIComponent(task)]]
    .join("/");
}

/** A check with what it is about to read, where it runs. @param others checks, the newest first */
export function shownCheck(check: FixityCheck, others: readonly FixityCheck[], usage: Expected | undefined) {
  const ofBucket = others.filter(({ bucket }) => bucket === check.bucket);
  return { check, expected: check.status === "processing" ? expectedOf(check, ofBucket, usage) : null };
}

/** A check as its page shows it; null where there is none. */
export async function readCheck(
  { gateway, facts }: StorageDeps,
  visit: StorageVisit,
  { bucket, task }: { readonly bucket: string; readonly task: string },
) {
  const { login, context } = visit;
  const path = checksPath(bucket, task);
  const { status, found } = path === null ? { status: 404, found: null } : await visit.read(path);
  const check = found === null ? null : fixityCheckOf(found, bucket);
  if (check === null) return { status, check };
  if (check.status !== "processing") {
    return { status, check, shown: { check, expected: null }, rows: await readRows(gateway, visit, check) };
  }
  const [list, usages] = await Promise.all([
    visit.read(`${checksPath(check.bucket)}`),
    facts.usage(login, [check.bucket], context),
  ]);
  const others = list.found === null ? [] : fixityChecksOf(list.found, check.bucket);
  return { status, check, shown: shownCheck(check, others, usages.get(check.bucket)), rows: null };
}

/** The rows of a check's report that an address asks for, and which it asks for. */
export interface ShownRows {
  /** null: the address names no result that the check has. */
  readonly filter: RowFilter | null;
  readonly from: number;
  /** The status in place of them where they could not be read; null without a filter. */
  readonly page: RowPage | number | null;
}

/** @throws HttpError 502 for a report that breaks off */
async function readRows(
  gateway: StorageGateway,
  { context, login, query }: StorageVisit,
  check: FixityCheck,
): Promise<ShownRows> {
  const { bucket, task_id } = check;
  const filter = rowFilterOf(query.get("result"), check);
  const from = firstNumber(query.get("from"));
  if (filter === null) return { filter, from, page: null };
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  try {
    const path = `/api/v1${checksPath(bucket, task_id)}/report`;
    const { status, body } = await gateway.send(
      {
        method: "GET",
        target: { path, query: "format=json" },
        headers: new Headers({ Accept: "application/json", "Accept-Encoding": "identity" }),
        readHere: isRead,
      },
      login,
      context,
    );
    if (status === 200 && body) return { filter, from, page: await readRowPage(body, resultsOf(filter), from) };
    await body?.cancel();
    if (status === 401) throw new LoginEnded();
    return { filter, from, page: status };
  } finally {
    resolve();
  }
}

/** The number of an address from which on a list is shown; 0 for what is none. */
export function firstNumber(text: string | null): number {
  return /^[0-9]{1,9}$/.test(text ?? "") ? Number(text) : 0;
}

/** The checks of buckets, with how many could not be read. */
export async function readChecks(visit: StorageVisit, buckets: readonly string[]) {
  const checks: FixityCheck[] = [];
  let failed = 0;
  let hasNoName = false;
  await forEachConcurrent(buckets, CONCURRENCY, async (bucket) => {
    const path = checksPath(bucket);
    const { status, found } = path === null ? NO_NAME : await visit.read(path);
    if (found !== null) checks.push(...fixityChecksOf(found, bucket));
    else if (status === 422) hasNoName = true;
    else failed++;
  });
  return { checks, failed, hasNoName };
}

/** None where the gateway has no schedules, or does not respond: the checks are shown even so. */
export async function readSchedules(visit: StorageVisit): Promise<ListedSchedules> {
  const none = { schedules: [], partial: false };
  try {
    return (await visit.read<ListedSchedules>("/fixity/schedules")).found ?? none;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return none;
  }
}
