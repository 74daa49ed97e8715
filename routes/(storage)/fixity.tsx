import { FixityForm, FORM_PROBLEM } from "@/components/storage/fixity_form.tsx";
import { BucketForm } from "@/components/storage/bucket_form.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageBaseline from "@/islands/storage_baseline.tsx";
import StorageFixity from "@/islands/storage_fixity.tsx";
import StorageSchedules from "@/islands/storage_schedules.tsx";
import { parseForm, readBytes } from "@/lib/http/body.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { FIXITY_LABELS, FIXITY_SENTENCES, type FixityCheck } from "@/lib/pages/storage/fixity_check.ts";
import { baselinesOf, type FixityFields, fixityFieldsOf, linkedFieldsOf } from "@/lib/pages/storage/fixity_fields.ts";
import { FIXITY_PATH, fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { BucketList } from "@/lib/s3/buckets.ts";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import {
  cancelCheck,
  firstNumber,
  readCheck,
  readChecks,
  readSchedules,
  type SentProblem,
  shownCheck,
  startCheck,
} from "@/lib/site/storage/fixity_pages.ts";
import { statusWithout } from "@/lib/site/storage/storage_visit.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import { checkTitle, FixityCheckPage } from "@/routes/(storage)/(_components)/fixity_check.tsx";

/** Buckets whose checks are read for a page. */
const MAX_BUCKETS = 200;
/** Checks of a page. */
const PAGE_CHECKS = 40;
/** Room for five keys of 1,024 bytes, escaped twice, and the other fields. */
const MAX_FORM_BYTES = 64 * 1024;

/** `/fixity`: the fixity checks of an account, or the one that its address names. */
export const handler = defineStorage.handlers({
  async GET({ state }) {
    const { visit, storage } = state;
    const { query } = visit;
    const [bucket, task] = [query.get("bucket") ?? "", query.get("task") ?? ""];
    if (bucket === "" || task === "") return await listPage(state, linkedFieldsOf(query), null);
    const read = await readCheck(storage, visit, { bucket, task });
    const { status, check } = read;
    state.title = checkTitle(check);
    const missing = statusWithout(status === 422 || status === 410 ? 404 : status);
    return await visit.page({ read }, check === null ? missing : undefined);
  },
  /** Starts a check or cancels one, and leads to its page. A check that was not started is the form again. */
  async POST({ state, req, info }) {
    const { visit, visit: { account } } = state;
    const form = await parseForm(await readBytes(req, MAX_FORM_BYTES), info.header("Content-Type") ?? "");
    if (form.get("act") === "cancel") {
      const [bucket, task] = [form.get("bucket") ?? "", form.get("task") ?? ""];
      await cancelCheck(visit, bucket, task);
      return seeOther(fixityPath({ account, bucket, task }));
    }
    const fields = fixityFieldsOf(form);
    const started = await startCheck(visit, fields);
    if (typeof started !== "string") return await listPage(state, fields, started);
    return seeOther(fixityPath({ account, bucket: fields.bucket, task: started }));
  },
});

/** @param problem what is wrong with a form that was sent */
async function listPage(state: StorageState, fields: FixityFields, problem: SentProblem | null) {
  const { visit, storage } = state;
  state.title = FIXITY_LABELS.fixity;
  const isSystem = visit.login.tenant === null && (await storage.gateway.storeKind(visit.context)).hasTenants;
  const list = isSystem ? null : await readList(state, fields, problem);
  // An account of the system level has no buckets, and may see the schedules of all tenants.
  const schedules = list === null ? await readSchedules(visit) : null;
  return await visit.page({ list, schedules }, problem === null ? statusWithout(list?.status ?? 200) : problem.status);
}

/** The checks of an account, with what the form of a new one shows. */
async function readList({ visit, storage }: StorageState, fields: FixityFields, problem: SentProblem | null) {
  const { context, login } = visit;
  const { status, found } = await visit.read<BucketList>("/buckets");
  const listed = found && found.buckets.map(({ Name }) => Name);
  if (listed === null && status !== 403) return { status, problem: storageProblem(status, "buckets") };
  // An account that may not list buckets sees the checks of the one that it names.
  const named = visit.query.get("show") || (listed === null ? fields.bucket : "");
  const buckets = named === "" ? bucketsToRead(fields.bucket, listed ?? []) : [named];
  const [read, schedules] = await Promise.all([readChecks(visit, buckets), readSchedules(visit)]);
  const checks = read.checks.toSorted(runningThenNewest);
  const from = firstNumber(visit.query.get("from"));
  const page = checks.slice(from, from + PAGE_CHECKS);
  const usages = await storage.facts.usage(login, bucketsOfRunning(page), context);
  const shown = page.map((check) => shownCheck(check, checks, usages.get(check.bucket)));
  return { status: 200, listed, named, fields, sent: problem, read, checks, from, shown, schedules };
}

type List = Extract<Awaited<ReturnType<typeof readList>>, { readonly checks: unknown }>;

export default defineStorage.page<typeof handler>(function Fixity({ data, state }) {
  const { visit } = state;
  const { account, accounts } = visit;
  if ("read" in data) return <FixityCheckPage visit={visit} read={data.read} now={state.now()} />;
  const { list, schedules } = data;
  return (
    <StorageSection account={account} accounts={accounts} title={FIXITY_LABELS.fixity}>
      {list === null
        ? (
          <>
            <p class="empty">{FIXITY_SENTENCES.systemLevel}</p>
            <Schedules account={account} listed={schedules} now={state.now()} />
          </>
        )
        : "problem" in list
        ? <p class="banner bad">{list.problem}</p>
        : <CheckList {...list} account={account} now={state.now()} />}
    </StorageSection>
  );
});

interface SchedulesProps {
  readonly account: string;
  readonly listed: ListedSchedules | null;
  /** ms since 1970 */
  readonly now: number;
}

function Schedules({ account, listed, now }: SchedulesProps) {
  if (listed === null || (listed.schedules.length === 0 && !listed.partial)) return null;
  return <StorageSchedules account={account} listed={listed} renderedAt={now} />;
}

function CheckList({ account, now, ...list }: List & Omit<SchedulesProps, "listed">) {
  const { listed, named, fields, sent: problem, read, checks, from, shown, schedules } = list;
  // Without a choice a browser takes the first bucket.
  const formFields = fields.bucket === "" ? { ...fields, bucket: named || (listed?.[0] ?? "") } : fields;
  const isNew = (checks.length === 0 && named === "") || fields.bucket !== "" || problem !== null;
  const isPart = listed === null || listed.length > MAX_BUCKETS;
  const link = (from: number) => fixityPath({ account, choices: { show: named }, from });
  return (
    <>
      <p class="remark">{FIXITY_SENTENCES.whatItIs}</p>
      <details class="new-form" open={isNew}>
        <summary>{FIXITY_LABELS.newCheck}</summary>
        <FixityForm
          account={account}
          buckets={listed}
          baseline={
            <StorageBaseline
              baselines={baselinesOf(checks, formFields)}
              bucket={formFields.bucket}
              chosen={formFields.baseline}
              problem={problem?.field === "baseline" ? FORM_PROBLEM : null}
            />
          }
          fields={formFields}
          problem={problem}
        />
      </details>
      {(isPart || named !== "") && (
        <BucketForm
          class="shown-bucket"
          action={FIXITY_PATH}
          account={account}
          name="show"
          bucket={named}
          label={FIXITY_LABELS.checksOf}
          button={{ class: "btn", children: FIXITY_LABELS.showChecks }}
        />
      )}
      {isPart && listed !== null && named === "" && <p class="remark">{FIXITY_SENTENCES.someBuckets(MAX_BUCKETS)}</p>}
      {read.hasNoName && <p class="banner warn">{FIXITY_SENTENCES.noSuchName}</p>}
      {read.failed > 0 && <p class="banner warn">{FIXITY_SENTENCES.notRead(read.failed)}</p>}
      {checks.length === 0 && read.failed === 0 && !read.hasNoName && (
        <p class="empty">{noChecks(named, listed !== null)}</p>
      )}
      {checks.length > 0 && <p class="dots sums">{sums(checks).map((text) => <span key={text}>{text}</span>)}</p>}
      {shown.length > 0 && <StorageFixity account={account} checks={shown} isAlone={false} renderedAt={now} />}
      <p class="btns page-links">
        {from > 0 && <a class="btn" href={link(0)}>{FIXITY_LABELS.newest}</a>}
        {from + PAGE_CHECKS < checks.length && <a class="btn" href={link(from + PAGE_CHECKS)}>{FIXITY_LABELS.older}</a>}
      </p>
      <Schedules account={account} listed={schedules} now={now} />
    </>
  );
}

/** The bucket of the form first, however many there are. */
function bucketsToRead(first: string, listed: readonly string[]): string[] {
  return [...new Set([...first === "" ? [] : [first], ...listed])].slice(0, MAX_BUCKETS);
}

/** The sentence in place of checks. Where no bucket was looked at, it must not claim that there are none. */
function noChecks(named: string, mayList: boolean): string {
  if (named !== "") return FIXITY_SENTENCES.noneOf(named);
  return mayList ? FIXITY_SENTENCES.none : FIXITY_SENTENCES.typeBucket;
}

function bucketsOfRunning(checks: readonly FixityCheck[]): string[] {
  return [...new Set(checks.filter(({ status }) => status === "processing").map(({ bucket }) => bucket))];
}

/** How many checks there are, each in one sum, and in how many of them is damage. */
function sums(checks: readonly FixityCheck[]): string[] {
  const running = checks.filter(({ status }) => status === "processing").length;
  const damaged = checks.filter((check) => check.damaged > 0).length;
  return [
    ...damaged > 0 ? [FIXITY_SENTENCES.damageIn(damaged)] : [],
    ...running > 0 ? [FIXITY_SENTENCES.runningChecks(running)] : [],
    FIXITY_SENTENCES.endedChecks(checks.length - running),
  ];
}

function runningThenNewest(a: FixityCheck, b: FixityCheck): number {
  const isRunning = ({ status }: FixityCheck) => Number(status === "processing");
  return isRunning(b) - isRunning(a) || b.started_at.localeCompare(a.started_at);
}
