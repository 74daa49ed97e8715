import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import { FixityFacts, FixityFilters, FixityRows } from "@/components/storage/fixity_report.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import StorageFixity, { type ShownCheck } from "@/islands/storage_fixity.tsx";
import {
  checkedPlace,
  type Expected,
  expectedOf,
  FIXITY_LABELS,
  FIXITY_SENTENCES,
  type FixityCheck,
  fixityCheckOf,
  fixityChecksOf,
  isBaseline,
  resultsOf,
  type RowFilter,
  rowFilterOf,
} from "@/lib/pages/storage/fixity_check.ts";
import { choicesOf } from "@/lib/pages/storage/fixity_fields.ts";
import { fixityPath, fixityReportPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { readRowPage, type RowPage } from "./fixity_rows.ts";
import {
  LoginEnded,
  statusWithout,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Which check a page is of. */
interface CheckAddress {
  readonly bucket: string;
  readonly task: string;
}

/** One fixity check: how far it is, what it found, and the objects of its report. */
export async function fixityCheckView(
  deps: StoragePageDeps,
  visit: StorageVisit,
  address: CheckAddress,
): Promise<StorageView> {
  const { account, accounts, read } = visit;
  const path = checksPath(address.bucket, address.task);
  const { status, found } = path === null ? { status: 404, found: null } : await read(path);
  const check = found === null ? null : fixityCheckOf(found, address.bucket);
  const { bucket, prefix } = check ?? { bucket: address.bucket, prefix: "" };
  const title = check === null
    ? FIXITY_LABELS.fixity
    : prefix === ""
    ? FIXITY_LABELS.checkOfAll(bucket)
    : FIXITY_LABELS.checkOf(checkedPlace(check));
  return {
    title,
    status: check === null ? statusWithout(status === 422 || status === 410 ? 404 : status) : undefined,
    body: (
      <StorageSection
        account={account}
        accounts={accounts}
        steps={[{ name: FIXITY_LABELS.fixity, href: fixityPath({ account }) }]}
        title={check === null || prefix === ""
          ? <bdi>{title}</bdi>
          : <KeyName name={FIXITY_LABELS.checkOf(`${bucket}/${prefix}`)} />}
      >
        {check === null ? <p class="banner warn">{absence(status)}</p> : await checkBody(deps, visit, check)}
      </StorageSection>
    ),
  };
}

/** Why a check is not there. */
function absence(status: number): string {
  if (status === 404 || status === 422) return FIXITY_SENTENCES.gone;
  return status === 410 ? FIXITY_SENTENCES.otherVersion : storageProblem(status, "folder");
}

async function checkBody(deps: StoragePageDeps, visit: StorageVisit, check: FixityCheck) {
  const { account } = visit;
  const { bucket, prefix, task_id: task, status } = check;
  const isRunning = status === "processing";
  const shown = isRunning ? await expectation(deps, visit, check) : { check, expected: null };
  return (
    <>
      <StorageFixity account={account} checks={[shown]} isAlone renderedAt={deps.now()} />
      <FixityFacts account={account} check={check} />
      {!isRunning && (
        <p class="btns reports">
          <a class="btn" href={fixityReportPath({ account, bucket, task }, "csv")}>
            <Icon name="download" /> {FIXITY_LABELS.download} ({FIXITY_LABELS.csv})
          </a>
          <a class="btn" href={fixityReportPath({ account, bucket, task }, "json")}>
            <Icon name="download" /> {FIXITY_LABELS.download} ({FIXITY_LABELS.json})
          </a>
          <a class="btn" href={fixityPath({ account, bucket, prefix, choices: choicesOf(check) })}>
            {FIXITY_LABELS.again}
          </a>
          {isBaseline(check) && (
            <a
              class="btn"
              href={fixityPath({ account, bucket, prefix, choices: { ...choicesOf(check), baseline: task } })}
            >
              {FIXITY_LABELS.compareAgain}
            </a>
          )}
        </p>
      )}
      <section id="objects">
        <h2>{FIXITY_LABELS.objects}</h2>
        {isRunning ? <p class="empty">{FIXITY_SENTENCES.rowsAtEnd}</p> : await objects(deps, visit, check)}
      </section>
    </>
  );
}

/** A check that runs with what it is about to read. */
async function expectation(
  { gateway, facts }: StoragePageDeps,
  { context, login }: StorageVisit,
  check: FixityCheck,
): Promise<ShownCheck> {
  const { bucket } = check;
  const [list, usages] = await Promise.all([
    gateway.read(`${checksPath(bucket)}`, login, context),
    facts.usage(login, [bucket], context),
  ]);
  return shownCheck(check, list.status === 200 ? fixityChecksOf(list.json, bucket) : [], usages.get(bucket));
}

/** A check with what it is about to read, where it runs. @param others checks, the newest first */
export function shownCheck(
  check: FixityCheck,
  others: readonly FixityCheck[],
  usage: Expected | undefined,
): ShownCheck {
  const ofBucket = others.filter(({ bucket }) => bucket === check.bucket);
  return { check, expected: check.status === "processing" ? expectedOf(check, ofBucket, usage) : null };
}

/** The rows of a check's report that the address asks for. */
async function objects(deps: StoragePageDeps, visit: StorageVisit, check: FixityCheck): Promise<ComponentChildren> {
  const { account, query } = visit;
  const { bucket, task_id: task, rows_left_out } = check;
  const filter = rowFilterOf(query.get("result"), check);
  if (filter === null) return <p class="empty">{FIXITY_SENTENCES.noRows}</p>;
  const from = firstNumber(query.get("from"));
  const read = await readRows(deps, visit, check, filter, from);
  const link = (from: number) => `${fixityPath({ account, bucket, task, result: filter, from })}#objects`;
  return (
    <>
      <FixityFilters account={account} check={check} current={filter} />
      {typeof read === "number"
        ? <p class="banner warn">{read === 410 ? FIXITY_SENTENCES.rowsGone : storageProblem(read, "folder")}</p>
        : (
          <>
            {read.rows.length > 0
              ? <FixityRows account={account} bucket={bucket} rows={read.rows} />
              : (
                <p class="empty">
                  {read.next === null ? FIXITY_SENTENCES.noneOfResult : FIXITY_SENTENCES.searched(read.searched)}
                </p>
              )}
            <p class="btns page-links">
              {from > 0 && <a class="btn" href={link(0)}>{FIXITY_LABELS.firstRows}</a>}
              {read.next !== null && <a class="btn" href={link(read.next)}>{FIXITY_LABELS.nextRows}</a>}
            </p>
          </>
        )}
      {rows_left_out > 0 && <p class="remark">{FIXITY_SENTENCES.rowsLeftOut(rows_left_out)}</p>}
    </>
  );
}

/** A page of rows, or the status in place of them. @throws HttpError 502 for a report that breaks off */
async function readRows(
  { gateway }: StoragePageDeps,
  { context, login }: StorageVisit,
  { bucket, task_id }: FixityCheck,
  filter: RowFilter,
  from: number,
): Promise<RowPage | number> {
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
    if (status !== 200 || !body) {
      await body?.cancel();
      if (status === 401) throw new LoginEnded();
      return status;
    }
    return await readRowPage(body, resultsOf(filter), from);
  } finally {
    resolve();
  }
}

/**
 * The path of a bucket's fixity checks below `/api/v1`, or of one of them; null for names that cannot be a segment of a path:
 * it would be another path.
 */
export function checksPath(bucket: string, task?: string): string | null {
  const names = task === undefined ? [bucket] : [bucket, task];
  if (names.some((name) => /^\.{0,2}$/.test(name))) return null;
  return ["/buckets", encodeURIComponent(bucket), "fixity", ...task === undefined ? [] : [encodeURIComponent(task)]]
    .join("/");
}

/** The number of an address from which on a list is shown; 0 for what is none. */
export function firstNumber(text: string | null): number {
  return /^[0-9]{1,9}$/.test(text ?? "") ? Number(text) : 0;
}
