import type { FixityFields } from "@/components/storage/fixity_form.tsx";
import { parseForm, readBytes } from "@/lib/http/body.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { FIXITY_LABELS, START_PROBLEMS } from "@/lib/presentation/storage/fixity_sentences.ts";
import { fixityPath } from "@/lib/presentation/storage/storage_paths.ts";
import { isStoreOutage, storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { requireSameOrigin } from "@/lib/results/browser_origin.ts";
import { cancelBody } from "@/lib/std/cancel_body.ts";
import { clip, entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { fixityListView, type SentProblem } from "./fixity.tsx";
import { LoginEnded, SeeOther, storagePage, type StoragePageDeps, type StorageVisit } from "./storage_page.tsx";

/** Room for two keys of 1,024 bytes, escaped twice, and the other fields. */
const MAX_FORM_BYTES = 64 * 1024;
const BYTES_PER_MB = 1_000_000;
/** The lowest and the highest rate that a form takes, MB per second. */
const RATES = { least: 0.1, most: 1_000_000 };
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
    const fields = fieldsOf(form);
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

function fieldsOf(form: ReadonlyMap<string, string>): FixityFields {
  const exact = form.get("exact_prefix");
  return {
    bucket: form.get("bucket") ?? "",
    prefix: exact === undefined ? form.get("prefix") ?? "" : percentDecoded(exact) ?? exact,
    rate: form.get("rate") ?? "",
    allVersions: form.has("all_versions"),
    full: form.has("full"),
  };
}

/** Starts a check. @returns its id, or why it was not started */
async function start(
  { gateway }: StoragePageDeps,
  { context, login }: StorageVisit,
  fields: FixityFields,
): Promise<string | SentProblem> {
  const { bucket, prefix, allVersions, full } = fields;
  if (bucket === "") return { status: 422, field: "bucket", text: START_PROBLEMS.noBucket };
  const rate = rateOf(fields.rate);
  if (rate === undefined) return { status: 422, field: "rate", text: START_PROBLEMS.rate };
  const { status, json } = await gateway.sendJson(
    "POST",
    `/buckets/${encodeURIComponent(bucket)}/fixity`,
    { prefix, rate, all_versions: allVersions, full },
    login,
    context,
  );
  if (status === 401) throw new LoginEnded();
  const task = stringAt(json, "task_id");
  return status === 202 && task !== null ? task : problemOf(status, json);
}

/** Cancels a check; one that has ended meanwhile, or is gone, is shown as such by its page. */
async function cancel(
  { gateway }: StoragePageDeps,
  { context, login }: StorageVisit,
  bucket: string,
  task: string,
): Promise<void> {
  const path = `/buckets/${encodeURIComponent(bucket)}/fixity/${encodeURIComponent(task)}`;
  const { status } = await gateway.sendJson("DELETE", path, undefined, login, context);
  if (status === 401) throw new LoginEnded();
}

/** Bytes per second; null: as fast as the server allows; undefined for what is no rate. */
function rateOf(text: string): number | null | undefined {
  const typed = text.trim().replace(",", ".");
  if (typed === "") return null;
  const rate = Number(typed);
  return rate >= RATES.least && rate <= RATES.most ? Math.round(rate * BYTES_PER_MB) : undefined;
}

/** The fields of the form by their names in the operation's body. */
const FIELDS: Readonly<Record<string, keyof FixityFields>> = {
  bucket: "bucket",
  prefix: "prefix",
  rate: "rate",
  all_versions: "allVersions",
  full: "full",
};

function problemOf(status: number, json: unknown): SentProblem {
  const whole = (text: string): SentProblem => ({ status: status >= 400 ? status : 502, field: null, text });
  const [first] = entries(member(json, "detail"));
  const named = entries(member(first, "loc")).at(-1);
  const field = typeof named === "string" && Object.hasOwn(FIELDS, named) ? FIELDS[named] : null;
  const message = clip(stringAt(first, "msg") ?? stringAt(json, "detail") ?? "", MAX_MESSAGE);
  switch (status) {
    case 403:
      return { status, field: "bucket", text: START_PROBLEMS.forbidden };
    case 404:
      return { status, field: "bucket", text: START_PROBLEMS.missing };
    case 429:
      return whole(START_PROBLEMS.tooMany);
    default:
      if (isStoreOutage(status) || message === "") return whole(storageProblem(status, "folder"));
      if (field === null) return whole(START_PROBLEMS.other(message));
      return { status, field, text: START_PROBLEMS.said(FIXITY_LABELS[field], message) };
  }
}
