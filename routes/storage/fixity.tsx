import { FixityForm, FORM_PROBLEM, type FormProblem } from "@/components/storage/fixity_form.tsx";
import { ShownBucket } from "@/components/storage/shown_bucket.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageBaseline from "@/islands/storage_baseline.tsx";
import StorageFixity from "@/islands/storage_fixity.tsx";
import StorageSchedules from "@/islands/storage_schedules.tsx";
import { HttpError } from "@/lib/http/errors.ts";
import { FIXITY_LABELS, FIXITY_SENTENCES, type FixityCheck, fixityChecksOf } from "@/lib/pages/storage/fixity_check.ts";
import { baselinesOf, type FixityFields, linkedFieldsOf } from "@/lib/pages/storage/fixity_fields.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import type { BucketList } from "@/lib/s3/buckets.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import { checksPath, firstNumber, fixityCheckView, shownCheck } from "./fixity_check.tsx";
import {
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Buckets whose checks are read for a page, and requests for them at a time. */
const MAX_BUCKETS = 200;
const CONCURRENCY = 8;
/** Checks of a page. */
const PAGE_CHECKS = 40;

/** As the gateway responds to what cannot be the name of a bucket. */
const NO_NAME = { status: 422, found: null };

/** What is wrong with a form that was sent, and the status of the page that says so. */
export interface SentProblem extends FormProblem {
  readonly status: number;
}

/** `/fixity`: the fixity checks of an account, or the one that its address names. */
export function fixityPage(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { query } = visit;
    const [bucket, task] = [query.get("bucket") ?? "", query.get("task") ?? ""];
    if (bucket !== "" && task !== "") return await fixityCheckView(deps, visit, { bucket, task });
    return await fixityListView(deps, visit, linkedFieldsOf(query), null);
  });
}

/**
 * The checks of an account, with the form of a new one.
 *
 * @param problem what is wrong with a form that was sent
 */
export async function fixityListView(
  deps: StoragePageDeps,
  visit: StorageVisit,
  fields: FixityFields,
  problem: SentProblem | null,
): Promise<StorageView> {
  const { login, account, accounts, context } = visit;
  const isSystem = login.tenant === null && (await deps.gateway.storeKind(context)).hasTenants;
  const { status, body } = isSystem
    ? { status: 200, body: await systemBody(deps, visit) }
    : await listBody(deps, visit, fields, problem);
  return {
    title: FIXITY_LABELS.fixity,
    status: problem === null ? statusWithout(status) : problem.status,
    body: (
      <StorageSection account={account} accounts={accounts} title={FIXITY_LABELS.fixity}>
        {body}
      </StorageSection>
    ),
  };
}

/** An account of the system level has no buckets, and may see the schedules of all tenants. */
async function systemBody(deps: StoragePageDeps, visit: StorageVisit) {
  const schedules = await readSchedules(deps, visit);
  return (
    <>
      <p class="empty">{FIXITY_SENTENCES.systemLevel}</p>
      {isShown(schedules) && <StorageSchedules account={visit.account} listed={schedules} renderedAt={deps.now()} />}
    </>
  );
}

async function listBody(
  deps: StoragePageDeps,
  visit: StorageVisit,
  fields: FixityFields,
  problem: SentProblem | null,
) {
  const { account, context, login } = visit;
  const { status, found } = await visit.read<BucketList>("/buckets");
  const listed = found && found.buckets.map(({ Name }) => Name);
  if (listed === null && status !== 403) {
    return { status, body: <p class="banner bad">{storageProblem(status, "buckets")}</p> };
  }
  // An account that may not list buckets sees the checks of the one that it names.
  const named = visit.query.get("show") || (listed === null ? fields.bucket : "");
  const buckets = named === "" ? bucketsToRead(fields.bucket, listed ?? []) : [named];
  const [read, schedules] = await Promise.all([readChecks(visit, buckets), readSchedules(deps, visit)]);
  const checks = read.checks.toSorted(runningThenNewest);
  const from = firstNumber(visit.query.get("from"));
  const page = checks.slice(from, from + PAGE_CHECKS);
  const usages = await deps.facts.usage(login, bucketsOfRunning(page), context);
  const shown = page.map((check) => shownCheck(check, checks, usages.get(check.bucket)));
  // Without a choice a browser takes the first bucket.
  const formFields = fields.bucket === "" ? { ...fields, bucket: named || (listed?.[0] ?? "") } : fields;
  const isNew = (checks.length === 0 && named === "") || fields.bucket !== "" || problem !== null;
  const isPart = listed === null || listed.length > MAX_BUCKETS;
  const link = (from: number) => fixityPath({ account, choices: { show: named }, from });
  return {
    status: 200,
    body: (
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
        {(isPart || named !== "") && <ShownBucket account={account} bucket={named} />}
        {isPart && listed !== null && named === "" && <p class="remark">{FIXITY_SENTENCES.someBuckets(MAX_BUCKETS)}</p>}
        {read.hasNoName && <p class="banner warn">{FIXITY_SENTENCES.noSuchName}</p>}
        {read.failed > 0 && <p class="banner warn">{FIXITY_SENTENCES.notRead(read.failed)}</p>}
        {checks.length === 0 && read.failed === 0 && !read.hasNoName && (
          <p class="empty">{noChecks(named, listed !== null)}</p>
        )}
        {checks.length > 0 && <p class="dots sums">{sums(checks).map((text) => <span key={text}>{text}</span>)}</p>}
        {shown.length > 0 && <StorageFixity account={account} checks={shown} isAlone={false} renderedAt={deps.now()} />}
        <p class="btns page-links">
          {from > 0 && <a class="btn" href={link(0)}>{FIXITY_LABELS.newest}</a>}
          {from + PAGE_CHECKS < checks.length && (
            <a class="btn" href={link(from + PAGE_CHECKS)}>{FIXITY_LABELS.older}</a>
          )}
        </p>
        {isShown(schedules) && <StorageSchedules account={account} listed={schedules} renderedAt={deps.now()} />}
      </>
    ),
  };
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

async function readChecks({ read }: StorageVisit, buckets: readonly string[]) {
  const checks: FixityCheck[] = [];
  let failed = 0;
  let hasNoName = false;
  await forEachConcurrent(buckets, CONCURRENCY, async (bucket) => {
    const path = checksPath(bucket);
    const { status, found } = path === null ? NO_NAME : await read(path);
    if (found !== null) checks.push(...fixityChecksOf(found, bucket));
    else if (status === 422) hasNoName = true;
    else failed++;
  });
  return { checks, failed, hasNoName };
}

/** None where the gateway has no schedules, or does not say: the checks are shown all the same. */
async function readSchedules(deps: StoragePageDeps, { context, login }: StorageVisit): Promise<ListedSchedules> {
  const none = { schedules: [], partial: false };
  try {
    const { status, json } = await deps.gateway.read("/fixity/schedules", login, context);
    return status === 200 ? json as ListedSchedules : none;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return none;
  }
}

function isShown({ schedules, partial }: ListedSchedules): boolean {
  return schedules.length > 0 || partial;
}
