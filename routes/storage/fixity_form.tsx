import { parseForm, readBytes } from "@/lib/http/body.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import {
  BYTES_PER_MB,
  FIXITY_FIELDS,
  fixityBody,
  type FixityField,
  type FixityFields,
  fixityFieldsOf,
  LEAST_RATE,
} from "@/lib/pages/storage/fixity_fields.ts";
import { ALL_SENTENCES, invalidText } from "@/lib/pages/coded_check_sentences.ts";
import { codedAt, translated } from "@/lib/pages/coded_sentences.ts";
import { FIELD_LABELS, START_PROBLEMS } from "@/lib/pages/storage/fixity_check.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { isStoreOutage, storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { requireSameOrigin } from "@/lib/auth/browser_origin.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { clip, entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { fixityListView, type SentProblem } from "./fixity.tsx";
import { checksPath } from "./fixity_check.tsx";
import { LoginEnded, SeeOther, storagePage, type StoragePageDeps, type StorageVisit } from "./storage_page.tsx";

/** Room for five keys of 1,024 bytes, escaped twice, and the other fields. */
const MAX_FORM_BYTES = 64 * 1024;
/** The highest rate that a form takes, MB per second. */
const MOST_RATE = 1_000_000;
const MAX_MESSAGE = 300;

/**
 * POST /fixity: starts a check or cancels one, and leads to its page. A check that was not started is the form again, with
 * what is wrong with it.
 */
export function fixityForm(deps: StoragePageDeps) {
  const page = storagePage(deps, async (visit) => {
    const { context, account } = visit;
    const form = await readForm(context);
    if (form.get("act") === "cancel") {
      const [bucket, task] = [form.get("bucket") ?? "", form.get("task") ?? ""];
      await cancel(deps, visit, bucket, task);
      throw new SeeOther(fixityPath({ account, bucket, task }));
    }
    const fields = fixityFieldsOf(form);
    const started = await start(deps, visit, fields);
    if (typeof started !== "string") return await fixityListView(deps, visit, fields, started);
    throw new SeeOther(fixityPath({ account, bucket: fields.bucket, task: started }));
  });
  return async function fixityForm(context: RequestContext): Promise<Response> {
    requireSameOrigin(context.request);
    try {
      return await page(context);
    } finally {
      cancelBody(context.request);
    }
  };
}

async function readForm(context: RequestContext): Promise<Map<string, string>> {
  return await parseForm(await readBytes(context.request, MAX_FORM_BYTES), context.header("Content-Type") ?? "");
}

/** Starts a check. @returns its id, or why it was not started */
async function start(
  { gateway }: StoragePageDeps,
  { context, login }: StorageVisit,
  fields: FixityFields,
): Promise<string | SentProblem> {
  const { bucket } = fields;
  if (bucket === "") return { status: 422, field: "bucket", text: START_PROBLEMS.noBucket };
  const path = checksPath(bucket);
  if (path === null) return { status: 404, field: "bucket", text: START_PROBLEMS.missing };
  const rate = rateOf(fields.rate);
  if (rate === undefined) return { status: 422, field: "rate", text: START_PROBLEMS.rate(LEAST_RATE) };
  const { status, json } = await gateway.sendJson(
    "POST",
    path,
    fixityBody(fields, rate),
    login,
    context,
  );
  if (status === 401) throw new LoginEnded();
  const task = stringAt(json, "task_id");
  return status === 202 && task !== null ? task : problemOf(status, json, fields);
}

/** Cancels a check; one that has ended meanwhile, or is gone, is shown as such by its page. */
async function cancel(
  { gateway }: StoragePageDeps,
  { context, login }: StorageVisit,
  bucket: string,
  task: string,
): Promise<void> {
  const path = checksPath(bucket, task);
  if (path === null) return;
  const { status } = await gateway.sendJson("DELETE", path, undefined, login, context);
  if (status === 401) throw new LoginEnded();
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
      if (isStoreOutage(status) || message === "") return whole(storageProblem(status, "folder"));
      if (field === null) return whole(START_PROBLEMS.other(message));
      return { status, field, text: START_PROBLEMS.said(FIELD_LABELS[field], message) };
  }
}

/** What a response says is wrong, and with which field: as a list of problems, or as `field: message`. */
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
